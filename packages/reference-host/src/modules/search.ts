import * as Type from 'typebox/type'

/** What of an item of a list can be found. */
export interface Searched {
  readonly ids: readonly (string | null)[]
  /** US cents; null: it has none. */
  readonly amountCents: number | null
  /** What people wrote or read: memos, names, addresses, words. */
  readonly texts: readonly (string | null | undefined)[]
}

/** The query parameter of a search in a list. */
export const searchFilter = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: '\\S',
    description:
      'Only those with this id, this amount in dollars, or these words or parts of words: in the memo, merchant, payee, wallet, address, description or properties. A page reads at most 500 items, so it can be short, or empty, before the last one',
    expected: 'must have 1 to 100 characters, and not only spaces',
  }),
)

/** Dollars as people write them: `12`, `12.50`, `$1,234.50`. */
const DOLLARS = /^\$?(\d{1,3}(?:,\d{3})+|\d{1,12})(?:\.(\d{1,2}))?$/

/**
 * Makes the test of a search: an item matches if it has the id, else by its amount or the whole number in a text if the search is a number, else
 * if its texts have each word. Capitals do not matter.
 */
export function searchOf(text: string): (item: Searched) => boolean {
  const wanted = fold(text.trim())
  const cents = centsOf(wanted)
  const words = wanted.split(/\s+/)
  const number = cents === undefined ? undefined : wholeNumber(wanted)
  return ({ ids, amountCents, texts }) => {
    if (ids.some(id => id !== null && fold(id) === wanted)) return true
    const content = fold(texts.filter(Boolean).join('\n'))
    if (number) return amountCents === cents || number.test(content)
    return words.every(word => content.includes(word))
  }
}

const fold = (text: string): string => text.normalize('NFKC').toLowerCase()

/** Finds a number of digits, commas and points where it is no part of a longer one. */
const wholeNumber = (number: string): RegExp =>
  new RegExp(`(?<![\\p{N}.,])${number.replace('$', '').replaceAll('.', '\\.')}(?!\\p{N}|[.,]\\p{N})`, 'u')

function centsOf(text: string): number | undefined {
  const [matched, dollars = '', fraction = ''] = DOLLARS.exec(text) ?? []
  if (matched === undefined) return undefined
  return Number(dollars.replaceAll(',', '')) * 100 + Number(fraction.padEnd(2, '0'))
}

/** Returns the texts and numbers in a JSON value, at any depth. */
export function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [String(value)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}
