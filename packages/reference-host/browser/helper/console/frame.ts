import { short } from '../../shared/address.ts'
import { copyButton } from '../../shared/copy.ts'
import { button, el, fill, type Child } from '../../shared/dom.ts'
import { utc } from '../../shared/time.ts'
import { show, type IsShown } from '../screen.ts'
import { cardsPanel } from './cards.ts'
import type { ConsoleContext, TabName } from './context.ts'
import { keysPanel } from './keys.ts'
import { notificationsPanel } from './notifications.ts'
import { overviewPanel } from './overview.ts'
import { sessionsPanel } from './sessions.ts'
import { transactionsPanel } from './transactions.ts'

const TABS: readonly (readonly [
  name: TabName,
  label: string,
  panel: (context: ConsoleContext) => Child[],
])[] = [
  ['overview', 'Overview', overviewPanel],
  ['keys', 'Keys', keysPanel],
  ['sessions', 'Sessions', sessionsPanel],
  ['cards', 'Cards', cardsPanel],
  ['transactions', 'Transactions', transactionsPanel],
  ['notifications', 'Notifications', notificationsPanel],
]

/** Shows the console with one of its parts open. */
export function mountFrame(context: ConsoleContext, first: TabName, signOut: () => Promise<void>): IsShown {
  const panel = el('div', { role: 'tabpanel', id: 'console-panel', class: 'console-panel', tabindex: -1 })
  const tabs = TABS.map(([name, label]) =>
    el(
      'button',
      { type: 'button', role: 'tab', id: `tab-${name}`, class: 'tab', 'aria-controls': 'console-panel' },
      label,
    ),
  )
  const select = (place: number): void => {
    const [name, , body] = TABS[place] as (typeof TABS)[number]
    context.remember(name)
    for (const [index, tab] of tabs.entries()) {
      tab.setAttribute('aria-selected', String(index === place))
      tab.tabIndex = index === place ? 0 : -1
    }
    panel.setAttribute('aria-labelledby', `tab-${name}`)
    fill(panel, ...body(context))
  }
  const list = el('div', { role: 'tablist', class: 'tabs', 'aria-label': 'Your account' }, ...tabs)
  for (const [place, tab] of tabs.entries()) tab.addEventListener('click', () => select(place))
  list.addEventListener('keydown', event => moveByKeys(event, tabs))
  const isShown = show({ title: 'Your account', whole: true, body: [head(context, signOut), list, panel] })
  select(TABS.findIndex(([name]) => name === first))
  return isShown
}

/** Lets arrow keys, Home and End move between tabs and open them. */
function moveByKeys(event: KeyboardEvent, tabs: readonly HTMLButtonElement[]): void {
  const at = tabs.indexOf(document.activeElement as HTMLButtonElement)
  const steps: Readonly<Record<string, number>> = {
    ArrowRight: at + 1,
    ArrowLeft: at - 1 + tabs.length,
    Home: 0,
    End: tabs.length - 1,
  }
  const to = steps[event.key]
  if (to === undefined) return
  event.preventDefault()
  const tab = tabs[to % tabs.length]
  tab?.focus()
  tab?.click()
}

function head({ address, session }: ConsoleContext, signOut: () => Promise<void>): HTMLElement {
  return el(
    'div',
    { class: 'console-head' },
    el(
      'p',
      { class: 'copied' },
      short(address),
      copyButton('address', () => address),
    ),
    el(
      'p',
      { class: 'muted small' },
      'This page reads your account and ends what you end. It moves no money. Signed in until ',
      el('time', { datetime: session.expiresAt }, utc(session.expiresAt).slice(11, 16)),
      ' UTC.',
    ),
    button('Sign out', signOut, 'small'),
  )
}
