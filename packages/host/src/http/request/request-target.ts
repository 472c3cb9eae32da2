import { isName } from '../../schemas/names.ts'
import { deny, type HostDenial } from '../codes.ts'
import type { Operation } from '../operations/operation.ts'
import { unknownParameter } from './unknown-names.ts'

/** The form of every id of the host. */
const ID = /^[!-~]{1,120}$/

/**
 * Denies an invalid path or query parameter. Undefined if all are valid. `not_found`: the path parameter does not have the form
 * of an id. `invalid_request`: a call of a tool has no path parameter, or a query parameter is not well-formed text, or is not known and the operation denies unknown
 * ones. U+FFFD is denied, because `URLSearchParams` replaces invalid UTF-8 by it.
 */
export function targetDenial(
  operation: Pick<Operation, 'query' | 'unknownMembers' | 'method' | 'surface'>,
  params: Readonly<Record<string, string>>,
  query: URLSearchParams,
): HostDenial | undefined {
  const missing = Object.keys(params).find(name => params[name] === '')
  if (missing !== undefined) return deny('invalid_request', `${missing} is required`, { field: missing })
  if (!Object.values(params).every(id => ID.test(id))) return deny('not_found', 'nothing has this id')
  for (const name of Object.keys(operation.query?.properties ?? {})) {
    if (query.getAll(name).every(value => isName(value) && !value.includes('\ufffd'))) continue
    return deny(
      'invalid_request',
      `${name} must be UTF-8 in normal form C (NFC) without control characters`,
      {
        field: name,
      },
    )
  }
  return unknownParameter(operation, query)
}
