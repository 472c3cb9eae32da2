import { el } from '../../shared/dom.ts'
import { markField } from './mark-field.ts'

/** The field for the addresses from which a key may be used. */
export interface AddressField {
  readonly element: HTMLElement
  /** The addresses; undefined if one is wrong. */
  read(): readonly string[] | undefined
  /** Marks a wrong address and focuses the field. Returns whether all are right. */
  check(): boolean
}

/** Makes the field for the addresses from which a key may be used. Empty: from everywhere. */
export function addressField(): AddressField {
  const input = el('textarea', {
    class: 'input mono',
    id: 'addresses',
    rows: 2,
    spellcheck: false,
    autocomplete: 'off',
    placeholder: 'From everywhere',
    'aria-describedby': 'addresses-help addresses-wrong',
  })
  const wrong = el('p', { class: 'wrong', id: 'addresses-wrong' })
  const read = (): readonly string[] | undefined => parseAddresses(input.value)
  return {
    element: el(
      'div',
      { class: 'field' },
      el('label', { for: 'addresses' }, 'Allowed addresses'),
      input,
      el(
        'p',
        { class: 'help', id: 'addresses-help' },
        'Addresses or blocks, one a line, such as 203.0.113.9 or 198.51.100.0/24.',
      ),
      wrong,
    ),
    read,
    check() {
      const help = 'Type an address or a block, such as 203.0.113.9 or 2001:db8::/32.'
      const isRight = markField({ input, wrong, isRight: read() !== undefined, help })
      if (!isRight) input.focus()
      return isRight
    },
  }
}

/** Only the shape, to find typing errors: the host decides what an address is. */
const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}(?:\/\d{1,2})?|[\da-f]*:[\da-f:.]+(?:\/\d{1,3})?)$/i

/** Reads addresses that are separated by spaces, commas or lines; undefined if one has not the shape of an address. */
export function parseAddresses(typed: string): readonly string[] | undefined {
  const found = typed.split(/[\s,]+/).filter(text => text !== '')
  return found.every(text => ADDRESS.test(text)) ? found : undefined
}
