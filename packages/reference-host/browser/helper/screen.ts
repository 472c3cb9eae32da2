import { sentence, type Problem } from '../shared/api.ts'
import { button, byId, el, fill, type Child } from '../shared/dom.ts'
import { readHost } from '../shared/host.ts'

/** The content of a screen, which replaces the previous one. */
export interface ScreenContent {
  readonly title: string
  /** The position in the flow, such as "Step 1 of 3". */
  readonly step?: string
  readonly body: readonly Child[]
  /** For a screen that needs more width than a sign-in. */
  readonly width?: 'wide' | 'widest'
}

/** Whether a screen is still shown. Check it after an `await`, and ignore the result if the screen is gone. */
export type IsShown = () => boolean

let shownScreens = 0

/** Shows a screen and focuses its heading, except for the first screen. */
export function show({ title, step, body, width }: ScreenContent): IsShown {
  const heading = el('h1', { tabindex: -1 }, title)
  const app = byId('app')
  app.className = width ? `sign-in ${width}` : 'sign-in'
  document.body.classList.remove('in-console')
  closeDialogs()
  const inside = [step ? el('p', { class: 'step' }, step) : undefined, heading, ...body]
  fill(app, el('section', { class: 'card' }, ...inside))
  document.title = `${title} · ${readHost().serviceName}`
  if (++shownScreens > 1) heading.focus()
  return currentScreen()
}

/** Shows the console: a screen that uses the whole window, and has headings and titles of its own. */
export function showWhole(body: readonly Child[]): IsShown {
  const app = byId('app')
  app.className = 'console'
  closeDialogs()
  document.body.classList.add('in-console')
  fill(app, ...body)
  shownScreens++
  return currentScreen()
}

/** Closes dialogs and drawers, which belong to the screen that is replaced. */
function closeDialogs(): void {
  for (const dialog of document.querySelectorAll('dialog')) dialog.close('no')
}

let held = false
const askBeforeLeaving = (event: BeforeUnloadEvent): void => event.preventDefault()

/**
 * Holds the current screen, for example while it shows a secret for the only time: the browser asks before the page is left, and
 * Back and Forward change nothing. Returns the function that releases it.
 */
export function holdScreen(): () => void {
  held = true
  addEventListener('beforeunload', askBeforeLeaving)
  return () => {
    held = false
    removeEventListener('beforeunload', askBeforeLeaving)
  }
}

/** Whether the current screen is held. */
export const isScreenHeld = (): boolean => held

/** Returns a function that tells whether the current screen is still shown. */
export function currentScreen(): IsShown {
  const number = shownScreens
  return () => shownScreens === number
}

/** A button after a failure. The first in a list is the primary one. */
export type Action = readonly [label: string, go: () => unknown]

/** Shows what failed, its consequences and what to do next. */
export function showFailure({
  title,
  tone = 'bad',
  text,
  problem,
  requestId = problem?.requestId ?? null,
  actions,
}: {
  readonly title: string
  /** `warn` if a person decided so or time ran out, `bad` if something failed. */
  readonly tone?: 'warn' | 'bad'
  /** The explanation, shown after the message of the host. */
  readonly text: readonly Child[]
  readonly problem?: Problem | undefined
  /** For support, where `problem` is not shown. */
  readonly requestId?: string | null
  readonly actions: readonly Action[]
}): IsShown {
  const buttons = actions.map(([label, go], place) => button(label, go, place === 0 ? 'primary' : ''))
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
      actions.length > 0 && el('div', { class: 'buttons' }, ...buttons),
    ],
  })
}

const requestLine = (id: string | null): Child =>
  id === null ? undefined : el('p', { class: 'small muted' }, 'Request id: ', el('code', {}, id))
