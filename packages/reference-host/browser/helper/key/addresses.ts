import { listField, type ListField } from './list-field.ts'

/** Makes the field for the addresses from which a key may be used. Empty: from everywhere. */
export function addressField(): ListField {
  return listField({
    id: 'addresses',
    label: 'Allowed addresses',
    placeholder: 'From everywhere',
    help: 'Addresses or blocks, one a line, such as 203.0.113.9 or 198.51.100.0/24.',
    correction: 'Type an address or a block, such as 203.0.113.9 or 2001:db8::/32.',
    parse: parseAddresses,
  })
}

/** Only the shape, to find typing errors: the host decides what an address is. */
const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}(?:\/\d{1,2})?|[\da-f]*:[\da-f:.]+(?:\/\d{1,3})?)$/i

/** Reads addresses that are separated by spaces, commas or lines; undefined if one has not the shape of an address. */
export function parseAddresses(typed: string): readonly string[] | undefined {
  const found = typed.split(/[\s,]+/).filter(text => text !== '')
  return found.every(text => ADDRESS.test(text)) ? found : undefined
}
