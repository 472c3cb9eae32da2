import { el, type Child } from '../../shared/dom.ts'

/** What a row of a list shows. */
interface ListRow {
  /** The name of the thing, with its badges. */
  readonly name: readonly Child[]
  /** The lines below the name. */
  readonly below: readonly Child[]
  /** An amount or buttons, at the end of the row. */
  readonly end?: Child
  /** Whether the row has rows of its own: its name is a heading then. */
  readonly isGroup?: boolean
}

/** Makes a row of a list: a name, lines below it, and what stands at its end. */
export function listRow({ name, below, end, isGroup = false }: ListRow): HTMLElement {
  return el(
    'li',
    { class: isGroup ? 'row tall' : 'row' },
    el('div', { class: 'row-main' }, el(isGroup ? 'h2' : 'p', { class: 'row-name' }, ...name), ...below),
    end,
  )
}
