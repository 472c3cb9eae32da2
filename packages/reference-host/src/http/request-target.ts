import type { TObject } from 'typebox/type'
import { isName } from '../schemas/names.ts'
import { deny, type HostDenial } from './codes.ts'

/** What every id of the host looks like. */
const ID = /^[!-~]{1,120}$/

/**
 * Why an operation's path or query parameters cannot be what they should; undefined when they can. `not_found`: no id is
 * spelled like the path parameter. `invalid_request`: a query parameter that the operation names is no name. U+FFFD is
 * refused there, because `URLSearchParams` puts it in the place of bytes that are not UTF-8.
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
