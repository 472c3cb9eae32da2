import { isStorableText } from '@gatewright/kernel/internal'
import * as Type from 'typebox/type'

/** The JSON Schema format that `isName` checks. */
export const NAME_FORMAT = 'name'
/** The JSON Schema format of texts that `new URL` reads. */
export const URL_FORMAT = 'url'

/**
 * Whether a text is valid as a name: well-formed Unicode in normal form C (NFC) without control characters,
 * so that every store distinguishes different names. Invisible characters (joiners, directions) are allowed:
 * names are compared by code point, and pages that show them must isolate them.
 */
export function isName(text: string): boolean {
  return isStorableText(text) && !/\p{Cc}/u.test(text) && text.normalize('NFC') === text
}

/**
 * Schema of a name that a client chooses, with its length in code points. Every name in a request body uses
 * it.
 */
export function nameText(minLength: number, maxLength: number): Type.TString {
  const description = 'Well-formed Unicode in normal form C (NFC) without control characters'
  return Type.String({ minLength, maxLength, format: NAME_FORMAT, description })
}

/** Schema of an id that the host or its operator has chosen. */
export function idText(maxLength = 120, description?: string): Type.TString {
  return Type.String({
    pattern: `^[!-~]{1,${maxLength}}$`,
    ...(description === undefined ? {} : { description }),
  })
}
