import { sentence, type Problem, type Reply } from '../shared/api.ts'
import { el, fill, type Child } from '../shared/dom.ts'

/** Asks the operator listener. */
export type Ask = <T>(path: string, body?: unknown) => Promise<Reply<T>>

/** One part of the page, with figures of its own. */
export interface Panel {
  readonly element: HTMLElement
  /** Asks for the figures and shows them. Resolves to a problem that ends the page, such as a changed token. */
  refresh(): Promise<Problem | undefined>
}

/** What a panel is about, and how it shows its figures. */
export interface PanelOptions<T> {
  readonly title: string
  /** One sentence that says what the figures are, and where the same ones are printed. */
  readonly about: string
  readonly path: string
  readonly wide?: boolean
  /** Draws the figures into `body`. It is called again with newer ones. */
  show(figures: T, body: HTMLElement): void
}

/** Makes a panel. Until its figures come it shows a skeleton; a failure is said in the panel and breaks no other. */
export function panel<T>(ask: Ask, { title, about, path, wide = false, show }: PanelOptions<T>): Panel {
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
      const reply = await ask<T>(path)
      if (reply.ok) show(reply.data, body)
      else if (reply.problem.status === 401) return reply.problem
      else fill(body, problemNote(reply.problem))
      return undefined
    },
  }
}

/** Says a problem in a note, with the request id for the logs. */
export function problemNote(problem: Problem): HTMLElement {
  return el(
    'div',
    { class: 'note bad' },
    el('p', {}, sentence(problem)),
    problem.requestId !== null &&
      el('p', { class: 'small' }, 'Request id ', el('code', {}, problem.requestId)),
  )
}

/** A table with a head. Cells of a column whose head is in `numbers` are aligned to the right. */
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

/** An empty state: what it means that there is nothing. */
export const empty = (text: string): HTMLElement => el('p', { class: 'empty' }, text)
