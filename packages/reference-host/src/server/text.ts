import { isStorableText } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import type { TObject } from 'typebox/type'
import { deny, type HostDenial } from './codes.ts'

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

/** What every id of the host looks like. */
const ID = /^[!-~]{1,120}$/

/**
 * Why an operation's path or query parameters cannot be what they should; undefined when they can. `not_found`: no id is
 * spelled like the path parameter. `invalid_request`: a query parameter that the operation names is no name. U+FFFD is
 * refused there, because `URLSearchParams` puts it in the place of bytes that are not UTF-8.
 */
export function targetFault(
  { query: known }: { readonly query?: TObject },
  params: Readonly<Record<string, string>>,
  query: URLSearchParams,
): HostDenial | undefined {
  if (!Object.values(params).every(id => ID.test(id))) return deny('not_found', 'nothing has this id')
  for (const name of Object.keys(known?.properties ?? {})) {
    if (query.getAll(name).every(value => isName(value) && !value.includes('\ufffd'))) continue
    return deny(
      'invalid_request',
      `${name} must be UTF-8 in normal form C (NFC) without control characters`,
      {
        field: name,
      },
    )
  }
  return undefined
}
