import { sentence, type Problem, type Reply } from '../shared/api.ts'
import { el, fill, type Child } from '../shared/dom.ts'

/** Calls the operator listener: a GET, or a POST if there is a body. */
export type CallOperator = <T>(path: string, body?: unknown) => Promise<Reply<T>>

/** One part of the page, with figures of its own. */
export interface Panel {
  readonly element: HTMLElement
  /** Reads the figures and shows them. Resolves to a problem that ends the page, such as a changed token. */
  refresh(): Promise<Problem | undefined>
}

/** Options of `panel`. */
export interface PanelOptions<T> {
  readonly title: string
  /** One sentence about the figures, which also names the command that prints them. */
  readonly about: string
  readonly path: string
  readonly wide?: boolean
  /** Draws the figures into `body`. It is called again with newer ones. */
  show(figures: T, body: HTMLElement): void
}

/** Makes a panel. It shows a skeleton until its figures arrive. A failure is shown in the panel and affects no other panel. */
export function panel<T>(
  callOperator: CallOperator,
  { title, about, path, wide = false, show }: PanelOptions<T>,
): Panel {
  const id = `panel-${path.replaceAll(/\W/g, '-')}`
  const body = el('div', { class: 'panel-body' }, el('div', { class: 'skeleton' }))
  const element = el(
    'section',
    { class: `card panel${wide ? ' wide' : ''}`, 'aria-labelledby': id },
    el('div', {}, el('h2', { id }, title), el('p', { class: 'small muted' }, about)),
    body,
  )
  return {
    element,
    async refresh() {
      const reply = await callOperator<T>(path)
      if (reply.ok) show(reply.data, body)
      else if (reply.problem.status === 401) return reply.problem
      else fill(body, problemNote(reply.problem))
      return undefined
    },
  }
}

/** Makes a note about a problem, with the request id to find in the logs. */
export function problemNote(problem: Problem): HTMLElement {
  return el(
    'div',
    { class: 'note bad' },
    el('p', {}, sentence(problem)),
    problem.requestId !== null &&
      el('p', { class: 'small' }, 'Request id ', el('code', {}, problem.requestId)),
  )
}

/** Makes a table with a head. Cells of a column whose head is in `numbers` are aligned to the right. */
export function table(
  caption: string,
  head: readonly string[],
  rows: readonly (readonly Child[])[],
  numbers: readonly string[] = [],
): HTMLElement {
  const align = (column: number): string | undefined =>
    numbers.includes(head[column] ?? '') ? 'number' : undefined
  const headRow = el('tr', {}, ...head.map((text, at) => el('th', { scope: 'col', class: align(at) }, text)))
  const cells = (row: readonly Child[]): HTMLElement =>
    el('tr', {}, ...row.map((cell, at) => el('td', { class: align(at), 'data-label': head[at] }, cell)))
  return el(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `Table: ${caption}` },
    el(
      'table',
      {},
      el('caption', { class: 'unseen' }, caption),
      el('thead', {}, headRow),
      el('tbody', {}, ...rows.map(cells)),
    ),
  )
}

/** Makes the text for a panel without figures. */
export const empty = (text: string): HTMLElement => el('p', { class: 'empty' }, text)
