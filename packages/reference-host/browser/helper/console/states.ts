import { sentence, type Problem, type Reply } from '../../shared/api.ts'
import { button, el, fill, type Child } from '../../shared/dom.ts'
import { whenHostIsBack } from '../../shared/host-away.ts'
import { announce } from '../../shared/live.ts'

/** How a part of the console reads and shows its data. `what` names it in sentences, such as "your keys". */
interface LoadOptions<T> {
  readonly what: string
  readonly read: () => Promise<Reply<T>>
  readonly show: (data: T) => readonly Child[]
  /** What is shown where the host has none. Default: the problem. */
  readonly missing?: () => readonly Child[]
}

/** Reads and shows a part. It shows a skeleton meanwhile, and an error with a button to try again. */
export async function load<T>(into: HTMLElement, options: LoadOptions<T>): Promise<void> {
  const { what, read, show, missing } = options
  // When a part is read again, its old content stays until the new one is there, so that nothing jumps.
  if (into.childElementCount === 0) fill(into, skeleton(what))
  into.setAttribute('aria-busy', 'true')
  const reply = await read()
  into.removeAttribute('aria-busy')
  if (reply.ok) return fill(into, ...show(reply.data))
  if (missing && reply.problem.status === 404) return fill(into, ...missing())
  showUnread(into, `${capital(what)} cannot be shown. Nothing was changed.`, reply.problem, () =>
    load(into, options),
  )
}

/**
 * Says in a part that it could not be read. While the host does not respond, one banner says so for all parts: what they show stays, and
 * `again` is called when the host responds.
 */
export function showUnread(
  into: HTMLElement,
  happened: string,
  problem: Problem,
  again: () => unknown,
): void {
  if (problem.status !== 0) return fill(into, problemNote(happened, problem, again))
  whenHostIsBack(() => {
    if (into.isConnected) again()
  })
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Makes grey lines in place of what is being read. They appear after 150 ms. */
export function skeleton(what: string): HTMLElement {
  const lines = [1, 2, 3].map(() => el('div', { class: 'skeleton' }))
  return el('div', { class: 'lines' }, el('p', { class: 'unseen' }, `Reading ${what}.`), ...lines)
}

/** Makes a note about a problem: what happened, what helps, the request id, and a button to try again. */
export function problemNote(happened: string, problem: Problem, retry?: () => unknown): HTMLElement {
  announce(happened)
  return el(
    'div',
    { class: 'note bad' },
    el('p', {}, el('strong', {}, happened)),
    el('p', {}, sentence(problem)),
    problem.requestId !== null &&
      el('p', { class: 'small muted' }, 'Request id: ', el('code', {}, problem.requestId)),
    retry && el('div', { class: 'buttons' }, button('Try again', retry, 'small')),
  )
}

/** Makes the note for an empty list, with what to do next. */
export function empty(text: string, explanation: string, action?: HTMLElement): HTMLElement {
  return el(
    'div',
    { class: 'empty' },
    el('p', {}, el('strong', {}, text)),
    el('p', { class: 'muted' }, explanation),
    action && el('div', { class: 'buttons' }, action),
  )
}

/** Says that a request failed, for example with `key` and `ended`. Without a response of the host, the outcome is unknown. */
export function notDone(what: string, done: string, { status }: Problem): string {
  return status === 0 || status >= 500
    ? `It is not known whether the ${what} was ${done}. Refresh, and repeat it if it was not.`
    : `The ${what} was not ${done}. It works as before.`
}

/** Says `refused` if the host said so. Without a response of the host, what was asked for may have happened. */
export function unlessUnknown(refused: string, { status }: Problem): string {
  return status === 0 || status >= 500
    ? 'It is not known whether it was done. Refresh, and repeat it if it was not.'
    : refused
}

/** Makes a section with a heading, and optionally a control beside it. */
export function section(title: string, body: readonly Child[], beside?: Child): HTMLElement {
  return el(
    'section',
    { class: 'card' },
    el('div', { class: 'section-head' }, el('h2', {}, title), beside),
    ...body,
  )
}
