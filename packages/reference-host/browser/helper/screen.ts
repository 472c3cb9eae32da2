import { sentence, type Problem } from '../shared/api.ts'
import { button, byId, el, fill, type Child } from '../shared/dom.ts'
import { readHost } from '../shared/host.ts'

/** One screen of the page, which replaces the one before. */
export interface ScreenContent {
  readonly title: string
  /** Where one is, such as "Step 1 of 3". */
  readonly step?: string
  readonly body: readonly Child[]
  /** Whether it needs more width than a sign-in. */
  readonly wide?: boolean
  /** Whether its body is laid out by itself instead of in a card. */
  readonly whole?: boolean
}

/** Whether a screen is still shown: what was awaited for one that is gone is dropped. */
export type IsShown = () => boolean

let shownScreens = 0

/** Shows a screen, with the focus on its heading but for the first one. */
export function show({ title, step, body, wide = false, whole = false }: ScreenContent): IsShown {
  const heading = el('h1', { tabindex: -1 }, title)
  const app = byId('app')
  app.className = whole ? 'console' : wide ? 'sign-in wide' : 'sign-in'
  const inside = [step ? el('p', { class: 'step' }, step) : undefined, heading, ...body]
  fill(app, ...(whole ? inside : [el('section', { class: 'card' }, ...inside)]))
  document.title = `${title} · ${readHost().serviceName}`
  if (++shownScreens > 1) heading.focus()
  return currentScreen()
}

/** Returns whether the screen that is shown now still is. */
export function currentScreen(): IsShown {
  const number = shownScreens
  return () => shownScreens === number
}

/** A way on from a fault: the first one is the usual one. */
export type Way = readonly [label: string, go: () => unknown]

/** Shows what happened, what was lost and how to go on. */
export function showFault({
  title,
  tone = 'bad',
  text,
  problem,
  requestId = problem?.requestId ?? null,
  ways,
}: {
  readonly title: string
  /** `warn` where a person or the time decided so, `bad` where something failed. */
  readonly tone?: 'warn' | 'bad'
  /** What happened, and what was lost. What the host said comes first. */
  readonly text: readonly Child[]
  readonly problem?: Problem | undefined
  /** For support, where `problem` is not shown. */
  readonly requestId?: string | null
  readonly ways: readonly Way[]
}): IsShown {
  const buttons = ways.map(([label, go], place) => button(label, go, place === 0 ? 'primary' : ''))
  return show({
    title,
    body: [
      el(
        'div',
        { class: `note ${tone}` },
        problem && el('p', {}, sentence(problem)),
        ...text.map(line => el('p', {}, line)),
        requestLine(requestId),
      ),
      ways.length > 0 && el('div', { class: 'buttons' }, ...buttons),
    ],
  })
}

const requestLine = (id: string | null): Child =>
  id === null ? undefined : el('p', { class: 'small muted' }, 'Request id: ', el('code', {}, id))
