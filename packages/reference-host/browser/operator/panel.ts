import { short } from '../shared/address.ts'
import { sentence, type Problem, type Reply } from '../shared/api.ts'
import { copyButton } from '../shared/copy.ts'
import { el, fill, type Child } from '../shared/dom.ts'
import type { FigureName, FiguresFeed } from './figures-feed.ts'
import type { RequestNames } from './figures.ts'

/** Options of `panel`. */
export interface PanelOptions<T> {
  readonly title: string
  /** One sentence about the figures, which also names the command that prints them. */
  readonly about: string
  readonly figures: FigureName
  /** Controls that stay when figures are drawn again. */
  readonly controls?: readonly Child[]
  /** Whether there is nothing to show. Then the whole panel is hidden. */
  readonly isEmpty?: (figures: T) => boolean
  /** Draws the figures into `body`. It is called again with newer ones. */
  show(figures: T, body: HTMLElement): void
}

/** Makes a part of the page with figures of its own. It shows a skeleton until they arrive, and a failure in place of them. */
export function panel<T>(
  feed: FiguresFeed,
  { title, about, figures, controls = [], isEmpty = () => false, show }: PanelOptions<T>,
): HTMLElement {
  const id = `panel-${figures}`
  const body = el('div', { class: 'panel-body' }, el('div', { class: 'skeleton' }))
  const element = el(
    'section',
    { class: 'card panel', id: figures, 'aria-labelledby': id },
    el('div', {}, el('h2', { id }, title), el('p', { class: 'small muted' }, about)),
    ...controls,
    body,
  )
  const draw = redrawn<T>(body, reply => {
    element.hidden = reply.ok && isEmpty(reply.data)
    if (reply.ok) show(reply.data, body)
    else fill(body, problemNote(reply.problem))
  })
  feed.follow<T>(figures, draw)
  return element
}

/**
 * Makes a function that draws replies into `body`, but not those that differ in nothing, nor while a person reads a plot there. An
 * element with the focus keeps it if its new version has the same `data-key`.
 */
export function redrawn<T>(body: HTMLElement, draw: (reply: Reply<T>) => void): (reply: Reply<T>) => void {
  let shown: string | undefined
  return reply => {
    const text = JSON.stringify(reply)
    if (text === shown || body.matches(':has(.plot:hover, .plot:focus)')) return
    shown = text
    const focused = body.contains(document.activeElement)
      ? (document.activeElement as HTMLElement)
      : undefined
    const key = focused?.dataset['key']
    draw(reply)
    if (key !== undefined) body.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus()
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
    {
      class: 'scroll',
      tabindex: 0,
      role: 'region',
      'aria-label': `Table: ${caption}`,
      'data-key': `table ${caption}`,
    },
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

/** Names the key of a request by its label, or by its id. */
export function keyOf({ keyId, keyLabel, console }: RequestNames): HTMLElement {
  if (keyId === null) return el('span', { class: 'muted' }, 'none')
  if (console) return el('span', { title: keyId }, 'Console')
  return keyLabel === null ? short(keyId) : el('span', { title: keyId }, keyLabel)
}

/** Makes a text that a button copies. `what`: what the text is, such as `wallet`. */
export const copiedText = (what: string, text: string): HTMLElement =>
  el(
    'span',
    { class: 'copied' },
    el('code', { class: 'breaks' }, text),
    copyButton(what, () => text),
  )

/** Makes a short id that a button copies. `what`: what the id names, such as `partner id`. */
export const copied = (what: string, id: string): HTMLElement =>
  el(
    'span',
    { class: 'copied' },
    short(id),
    copyButton(what, () => id),
  )
