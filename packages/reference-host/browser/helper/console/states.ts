import { sentence, type Problem, type Reply } from '../../shared/api.ts'
import { button, el, fill, type Child } from '../../shared/dom.ts'
import { say } from '../../shared/live.ts'

/** What a part of the console shows, and what it is called in sentences, such as "your keys". */
interface LoadOptions<T> {
  readonly what: string
  readonly read: () => Promise<Reply<T>>
  readonly show: (data: T) => readonly Child[]
}

/** Reads and shows a part: a skeleton while it lasts, and what went wrong with a way to try again. */
export async function load<T>(into: HTMLElement, { what, read, show }: LoadOptions<T>): Promise<void> {
  // What is shown stays until there is something new: nothing jumps when it is read again.
  if (into.childElementCount === 0) fill(into, skeleton(what))
  into.setAttribute('aria-busy', 'true')
  const reply = await read()
  into.removeAttribute('aria-busy')
  if (reply.ok) return fill(into, ...show(reply.data))
  fill(
    into,
    problemNote(`${capital(what)} cannot be shown. Nothing was changed.`, reply.problem, () =>
      load(into, { what, read, show }),
    ),
  )
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Grey lines in place of what is being read. They appear after 150 ms. */
export function skeleton(what: string): HTMLElement {
  const lines = [1, 2, 3].map(() => el('div', { class: 'skeleton' }))
  return el('div', { class: 'lines' }, el('p', { class: 'unseen' }, `Reading ${what}.`), ...lines)
}

/** Says what happened and what was lost, what helps, and the request id, with a button to try again. */
export function problemNote(happened: string, problem: Problem, again?: () => unknown): HTMLElement {
  say(happened)
  return el(
    'div',
    { class: 'note bad' },
    el('p', {}, el('strong', {}, happened)),
    el('p', {}, sentence(problem)),
    problem.requestId !== null &&
      el('p', { class: 'small muted' }, 'Request id: ', el('code', {}, problem.requestId)),
    again && el('div', { class: 'buttons' }, button('Try again', again, 'small')),
  )
}

/** Says that there is nothing, and the one thing to do next. */
export function empty(text: string, explanation: string, action?: HTMLElement): HTMLElement {
  return el(
    'div',
    { class: 'empty' },
    el('p', {}, el('strong', {}, text)),
    el('p', { class: 'muted' }, explanation),
    action && el('div', { class: 'buttons' }, action),
  )
}

/** Says what became of something that was asked for, such as `key` and `ended`. Without a response of the host nobody knows. */
export function notDone(what: string, done: string, { status }: Problem): string {
  return status === 0 || status >= 500
    ? `It is not known whether the ${what} was ${done}. Read again, and repeat it if it was not.`
    : `The ${what} was not ${done}. It works as before.`
}

/** A section with a heading, and what belongs beside the heading. */
export function section(title: string, body: readonly Child[], beside?: Child): HTMLElement {
  return el(
    'section',
    { class: 'card' },
    el('div', { class: 'section-head' }, el('h2', {}, title), beside),
    ...body,
  )
}
