import { el } from './dom.ts'

/** Shortens an address or an id: `0x1234…abcd`. Texts of up to 13 characters are unchanged. */
export function shortened(text: string): string {
  return text.length <= 13 ? text : `${text.slice(0, 6)}…${text.slice(-4)}`
}

/** Shows an address or an id in short form; the whole text appears on focus and in the title. */
export function short(text: string): HTMLElement {
  if (shortened(text) === text) return el('span', { class: 'mono' }, text)
  return el(
    'span',
    { class: 'mono short', tabindex: 0, title: text },
    el('span', { class: 'cut', 'aria-hidden': 'true' }, shortened(text)),
    el('span', { class: 'full', 'aria-hidden': 'true' }, text),
    el('span', { class: 'unseen' }, text),
  )
}
