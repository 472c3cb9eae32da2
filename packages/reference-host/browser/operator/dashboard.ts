import { button, el } from '../shared/dom.ts'
import { isHostAway } from '../shared/host-away.ts'
import { showStatus } from '../shared/status.ts'
import { fromNow, utc } from '../shared/time.ts'
import { aliasPanel } from './aliases.ts'
import { decisionPanel } from './decisions.ts'
import { figuresFeed } from './figures-feed.ts'
import type { HostFigures, HostState } from './figures.ts'
import { findPanel } from './find.ts'
import { hourTiles } from './hour.ts'
import { inbox } from './inbox.ts'
import { ledgerPanel } from './ledger.ts'
import { refusalPanel } from './refusals.ts'
import { requestPanel } from './requests.ts'
import { storePanel } from './stores.ts'
import { strip } from './strip.ts'
import { webhookPanel } from './webhooks.ts'

/** Options of `dashboard`. */
export interface DashboardOptions {
  readonly token: string
  readonly host: HostFigures
  readonly heading: HTMLElement
  /** Forgets the token, and goes back to the form that asks for it. */
  lock(): void
  /** Called when the host does not accept the token any more. */
  ended(): void
}

/** All intervals of `figures-feed.ts` are multiples of it. */
const TICK_SECONDS = 5

/** Makes the page of figures, and updates them until it is removed from the document. */
export function dashboard({ token, host, heading, lock, ended }: DashboardOptions): HTMLElement {
  const feed = figuresFeed(token, ended)
  const finder = findPanel(feed, what => requests.showOnly(what))
  const requests = requestPanel(feed, finder.open)
  const about = `Version ${host.version}, process ${host.pid}, since ${utc(host.since)}. Requests and latencies are those of this process; other hosts have pages of their own.`
  const freshness = el('p', { class: 'small muted' })
  const showFreshness = (paused: boolean): void => {
    freshness.textContent = paused ? `Paused at ${utc(Date.now())}` : `Figures of ${utc(Date.now())}`
  }
  const pause = button(
    'Pause updates',
    () => {
      const paused = pause.getAttribute('aria-pressed') !== 'true'
      pause.setAttribute('aria-pressed', String(paused))
      showFreshness(paused)
    },
    'small',
  )
  pause.setAttribute('aria-pressed', 'false')
  const forget = (): void => {
    feed.end()
    lock()
  }
  const readAll = async (): Promise<void> => {
    await Promise.all([feed.readAll(), finder.readAgain()])
  }
  const isPaused = (): boolean => pause.getAttribute('aria-pressed') === 'true'
  const refresh = async (reading: Promise<void>): Promise<void> => {
    await reading
    if (!element.isConnected) return
    // Figures that are the same are not drawn again, but time goes on.
    for (const time of element.querySelectorAll('time')) time.textContent = fromNow(time.dateTime)
    if (isHostAway()) showStatus(undefined)
    else showFreshness(isPaused())
  }
  const element: HTMLElement = el(
    'div',
    { class: 'dashboard' },
    el(
      'div',
      { class: 'dashboard-head' },
      el('div', {}, heading, el('p', { class: 'small muted' }, about), freshness),
      el(
        'div',
        { class: 'buttons' },
        pause,
        button('Refresh', () => refresh(readAll()), 'small'),
        button('Lock', forget, 'small'),
      ),
    ),
    finder.element,
    strip(feed),
    hourTiles(feed),
    inbox(feed),
    refusalPanel(feed, requests.showOnly),
    requests.element,
    decisionPanel(feed),
    storePanel(feed),
    ledgerPanel(feed),
    webhookPanel(feed),
    aliasPanel(feed),
  )
  feed.follow<HostState>('state', reply => showStatus(reply.ok && reply.data.ready))
  let seconds = 0
  const again = (): void => {
    setTimeout(() => {
      if (!element.isConnected) return
      seconds += TICK_SECONDS
      const rests = isPaused() || document.hidden || isHostAway()
      void (rests ? Promise.resolve() : refresh(feed.readDue(seconds))).then(again)
    }, TICK_SECONDS * 1000)
  }
  void refresh(feed.readAll()).then(again)
  return element
}
