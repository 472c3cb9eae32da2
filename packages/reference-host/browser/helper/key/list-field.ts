import { el } from '../../shared/dom.ts'
import { markField } from './mark-field.ts'

/** A field for a list of texts. */
export interface ListField {
  readonly element: HTMLElement
  /** The texts; undefined if one is wrong. */
  read(): readonly string[] | undefined
  /** Marks a wrong text and focuses the field. Returns whether all are right. */
  check(): boolean
}

/** The texts of a field for a list, and how it is read. */
interface ListFieldOptions {
  readonly id: string
  readonly label: string
  /** What an empty field means. */
  readonly placeholder: string
  readonly help: string
  /** What to type, where a text is wrong. */
  readonly correction: string
  /** Reads what was typed; undefined if a text is wrong. */
  readonly parse: (typed: string) => readonly string[] | undefined
}

/** Makes a field for a list of texts. */
export function listField({ id, label, placeholder, help, correction, parse }: ListFieldOptions): ListField {
  const input = el('textarea', {
    class: 'input mono',
    id,
    rows: 2,
    spellcheck: false,
    autocomplete: 'off',
    placeholder,
    'aria-describedby': `${id}-help ${id}-wrong`,
  })
  const wrong = el('p', { class: 'wrong', id: `${id}-wrong` })
  const read = (): readonly string[] | undefined => parse(input.value)
  return {
    element: el(
      'div',
      { class: 'field' },
      el('label', { for: id }, label),
      input,
      el('p', { class: 'help', id: `${id}-help` }, help),
      wrong,
    ),
    read,
    check() {
      const isRight = markField({ input, wrong, isRight: read() !== undefined, help: correction })
      if (!isRight) input.focus()
      return isRight
    },
  }
}
