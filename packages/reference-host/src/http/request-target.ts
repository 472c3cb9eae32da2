import type { TObject } from 'typebox/type'
import { isName } from '../schemas/names.ts'
import { deny, type HostDenial } from './codes.ts'

/** The form of every id that the host gives out. */
const ID = /^[!-~]{1,120}$/

/**
 * Denies a path or query parameter that cannot be valid; undefined when all can be. `not_found`: the path
 * parameter does not have the form of an id. `invalid_request`: a query parameter is not well-formed text.
 * U+FFFD is refused there, because `URLSearchParams` replaces invalid UTF-8 by it.
 */
export function targetDenial(
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
