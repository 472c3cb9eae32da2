import * as Type from 'typebox/type'

/** The most characters of a text about a merchant that are kept. */
const MOST_KEPT = 100

/** A text about a merchant, in any form in which a card network sends it. No text of a merchant declines a payment. */
export const MerchantText = Type.Optional(Type.Union([Type.String({ maxLength: 10_000 }), Type.Null()]))

/** The name of a merchant that has sent none that can be shown. */
export const UNNAMED = 'Unnamed merchant'

/**
 * Returns a text about a merchant as it can be shown: letters composed (NFC); control characters, U+FFFD and runs of spaces as one space;
 * at most 100 characters. Null if nothing is left to see.
 */
export function shownText(given: string | null | undefined): string | null {
  const spaced = (given ?? '').normalize('NFC').replaceAll(/[\p{Cc}\p{Z}\ufffd]+/gu, ' ')
  const text = [...spaced.trim()].slice(0, MOST_KEPT).join('').trimEnd()
  return /[^\p{Cf}\p{Z}]/u.test(text) ? text : null
}
