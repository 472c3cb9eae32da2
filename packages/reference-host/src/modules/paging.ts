import { allow, type Verdict } from '@gatewright/kernel'
import type { ListPosition } from '@gatewright/session-issuer'
import * as Type from 'typebox/type'
import type { HostDenial } from '@gatewright/host'
import { deny } from '../product/denials.ts'

/** One page: up to `limit` items after position `after`. */
interface Paging {
  readonly after: number
  readonly limit: number
}

/** How many items a page has: `most`, and `defaultLimit` where the query says nothing. */
interface PageSize {
  readonly most?: number
  readonly defaultLimit?: number
}

/** The longest cursor, in characters. */
const MAX_CURSOR = 120

/** The query parameters of a list with up to `most` items a page. */
export const pagingQueryUpTo = (most: number, defaultLimit = 20) =>
  Type.Object({
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: most, default: defaultLimit, description: 'Most items of a page' }),
    ),
    cursor: Type.Optional(
      Type.String({
        pattern: `^[A-Za-z0-9_-]{1,${MAX_CURSOR}}$`,
        description: '`nextCursor` of the page before',
      }),
    ),
  })
/** The query parameters of a paged list. */
export const pagingQuery = pagingQueryUpTo(100)

/**
 * Reads `limit` (1 to `most`, default `defaultLimit`) and `cursor` (from an earlier response) from the query. Denial:
 * `invalid_request`.
 */
export function readPaging(query: URLSearchParams, size: PageSize = {}): Verdict<Paging, HostDenial> {
  const limit = readLimit(query, size)
  if (!limit.ok) return limit
  const cursor = query.get('cursor')
  if (cursor === null) return allow({ after: 0, limit: limit.value })
  const after = Number(/^after:([1-9]\d{0,14})$/.exec(decoded(cursor))?.[1])
  // The decoder skips characters outside base64url, so the cursor is compared with its own encoding.
  return cursor === cursorOf(after) ? allow({ after, limit: limit.value }) : foreignCursor
}

/**
 * Reads `limit` and `cursor` of a list of the issuer, which is ordered by an instant and then by id; `cursor` is from
 * `positionCursor`. Denial: `invalid_request`.
 */
export function readPositionPaging(
  query: URLSearchParams,
  size: PageSize,
): Verdict<{ readonly limit: number; readonly after?: ListPosition }, HostDenial> {
  const limit = readLimit(query, size)
  if (!limit.ok) return limit
  const cursor = query.get('cursor')
  if (cursor === null) return allow({ limit: limit.value })
  const [, at, id = ''] = /^at:([1-9]\d{0,14}):([A-Za-z0-9_-]{1,64})$/.exec(decoded(cursor)) ?? []
  const after = { at: Number(at), id }
  return cursor === positionCursor(after) ? allow({ limit: limit.value, after }) : foreignCursor
}

function readLimit(
  query: URLSearchParams,
  { most = 100, defaultLimit = 20 }: PageSize,
): Verdict<number, HostDenial> {
  const limit = query.get('limit') ?? String(defaultLimit)
  if (/^[1-9]\d{0,2}$/.test(limit) && Number(limit) <= most) return allow(Number(limit))
  return deny('invalid_request', `limit must be an integer from 1 to ${most}`, { field: 'limit' })
}

const foreignCursor: HostDenial = deny('invalid_request', 'cursor must come from an earlier nextCursor', {
  field: 'cursor',
})

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

/** The cursor of the page after a place in a list of the issuer. */
export const positionCursor = ({ at, id }: ListPosition): string => encoded(`at:${at}:${id}`)

/** The cursor of the page after a position. */
const cursorOf = (position: number): string => encoded(`after:${position}`)

const encoded = (text: string): string => Buffer.from(text, 'latin1').toString('base64url')
const decoded = (cursor: string): string => Buffer.from(cursor, 'base64url').toString('latin1')
