import { button, byId, el } from '../shared/dom.ts'
import { utc } from '../shared/time.ts'
import { aliasPanel } from './aliases.ts'
import { decisionPanel } from './decisions.ts'
import type { HostFigures } from './figures.ts'
import { jobPanel } from './jobs.ts'
import { ledgerPanel } from './ledger.ts'
import { lostRunPanel } from './lost-runs.ts'
import type { CallOperator, Panel } from './panel.ts'
import { statePanel } from './state.ts'
import { storePanel } from './stores.ts'

/** Options of `dashboard`. */
export interface DashboardOptions {
  readonly callOperator: CallOperator
  readonly host: HostFigures
  readonly heading: HTMLElement
  /** Goes back to the form that asks for the token. */
  lock(reason?: string): void
}

const EVERY_MS = 15_000

/** Makes the page of figures, and updates them until it is removed from the document. */
export function dashboard({ callOperator, host, heading, lock }: DashboardOptions): HTMLElement {
  const panels = [statePanel, decisionPanel, storePanel, lostRunPanel, jobPanel, ledgerPanel, aliasPanel].map(
    make => make(callOperator),
  )
  const about = `Version ${host.version}, process ${host.pid}, since ${utc(host.since)}. Decisions and latencies are those of this process; other hosts have pages of their own.`
  const element: HTMLElement = el(
    'div',
    { class: 'dashboard' },
    el(
      'div',
      { class: 'dashboard-head' },
      el('div', {}, heading, el('p', { class: 'small muted' }, about)),
      el(
        'div',
        { class: 'buttons' },
        button('Refresh', () => refresh(panels, element, lock), 'small'),
        button('Forget the token', () => lock(), 'small'),
      ),
    ),
    ...panels.map(panel => panel.element),
  )
  const again = (): void => {
    setTimeout(() => {
      if (!element.isConnected) return
      void refresh(panels.filter(isIdle), element, lock).then(again)
    }, EVERY_MS)
  }
  void refresh(panels, element, lock).then(again)
  return element
}

/** Whether no plot of the panel is under the pointer, and nothing in it has the focus. */
const isIdle = ({ element }: Panel): boolean => !element.matches(':focus-within, :has(.plot:hover)')

async function refresh(
  panels: readonly Panel[],
  element: HTMLElement,
  lock: DashboardOptions['lock'],
): Promise<void> {
  if (document.hidden) return
  const problems = await Promise.all(panels.map(panel => panel.refresh()))
  if (problems.some(problem => problem !== undefined))
    return lock('The host does not accept this token. Type its token again.')
  if (element.isConnected) byId('freshness').textContent = `Figures of ${utc(Date.now())}`
}
