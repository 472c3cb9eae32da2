import { allow, type Verdict } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { deny, type HostDenial } from '../http/codes.ts'

/** One page: up to `limit` items after position `after`. */
interface Paging {
  readonly after: number
  readonly limit: number
}

/** The query parameters of a list with up to `maximum` items a page. */
export const pagingQueryUpTo = (maximum: number) =>
  Type.Object({
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum, default: 20, description: 'Most items of a page' }),
    ),
    cursor: Type.Optional(
      Type.String({ pattern: '^[A-Za-z0-9_-]{1,40}$', description: '`nextCursor` of the page before' }),
    ),
  })
/** The query parameters of a paged list. */
export const pagingQuery = pagingQueryUpTo(100)

/**
 * Reads `limit` (1 to `most`, default `defaultLimit`) and `cursor` (from an earlier answer) from the query. Denial:
 * `invalid_request`.
 */
export function readPaging(
  query: URLSearchParams,
  { most = 100, defaultLimit = 20 }: { readonly most?: number; readonly defaultLimit?: number } = {},
): Verdict<Paging, HostDenial> {
  const limit = query.get('limit') ?? String(defaultLimit)
  if (!/^[1-9]\d{0,2}$/.test(limit) || Number(limit) > most) {
    return deny('invalid_request', `limit must be an integer from 1 to ${most}`, { field: 'limit' })
  }
  const cursor = query.get('cursor')
  if (cursor === null) return allow({ after: 0, limit: Number(limit) })
  const match = /^after:([1-9]\d{0,14})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))
  const after = Number(match?.[1])
  // The decoder skips characters outside base64url, so the cursor is compared with its own encoding.
  if (!match || cursor !== cursorOf(after))
    return deny('invalid_request', 'cursor must come from an earlier nextCursor', { field: 'cursor' })
  return allow({ after, limit: Number(limit) })
}

/**
 * Cuts one page out of `found`, which holds up to `limit + 1` items. `nextCursor` is null on the last page. A
 * cursor is opaque to clients and grants nothing, since reads are bound to the caller's account.
 */
export function cutPage<T extends { readonly position: number }>(
  found: readonly T[],
  limit: number,
): { readonly items: readonly T[]; readonly nextCursor: string | null } {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  if (found.length <= limit || !last) return { items, nextCursor: null }
  return { items, nextCursor: cursorOf(last.position) }
}

/** The cursor of the page after a position. */
const cursorOf = (position: number): string =>
  Buffer.from(`after:${position}`, 'latin1').toString('base64url')
