import { isStorableText } from '@gatewright/kernel'
import * as Type from 'typebox/type'

/** The format of names in schemas: `isName`. */
export const NAME_FORMAT = 'name'

/**
 * Whether a text may name somebody or something: well-formed Unicode in normal form C (NFC) without control characters. Two
 * names that differ stay different in every store. Characters that only change how a text is shown (joiners, directions) may be
 * in it: names are compared by code point, and pages that show names must isolate them.
 */
export function isName(text: string): boolean {
  return isStorableText(text) && !/\p{Cc}/u.test(text) && text.normalize('NFC') === text
}

/** The schema of a name that a client chooses; lengths in code points. Every name in a body, of every module, is made here. */
export function nameText(minLength: number, maxLength: number): Type.TString {
  const description = 'Well-formed Unicode in normal form C (NFC) without control characters'
  return Type.String({ minLength, maxLength, format: NAME_FORMAT, description })
}

/** The schema of an id that the host has given out, or that its operator has configured. */
export function idText(maxLength = 120, description?: string): Type.TString {
  return Type.String({
    pattern: `^[!-~]{1,${maxLength}}$`,
    ...(description === undefined ? {} : { description }),
  })
}
