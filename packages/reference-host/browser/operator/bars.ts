import { el } from '../shared/dom.ts'

/** One bar: its name, its value in words, and its length. */
export interface Bar {
  readonly name: string
  readonly text: string
  readonly value: number
  /** The CSS custom property of its colour. */
  readonly colour: string
}

/** Draws horizontal bars with their names and values beside them, the longest of full width. */
export function bars(caption: string, entries: readonly Bar[]): HTMLElement {
  const most = Math.max(...entries.map(({ value }) => value), 1e-9)
  return el(
    'ul',
    { class: 'bars', 'aria-label': caption },
    ...entries.map(({ name, text, value, colour }) => {
      const bar = el('span', { class: 'bar', 'data-colour': colour })
      bar.style.inlineSize = `${Math.max(1, (value / most) * 100)}%`
      return el(
        'li',
        {},
        el('span', { class: 'bar-name' }, name),
        el('span', { class: 'bar-text small muted' }, text),
        el('span', { class: 'bar-track', 'aria-hidden': 'true' }, bar),
      )
    }),
  )
}
