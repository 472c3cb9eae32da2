import { allow, type Verdict } from '@gatewright/kernel'
import type { EpochMs } from '@gatewright/kernel/internal'
import type { ListPosition } from '@gatewright/session-issuer/internal'
import * as Type from 'typebox/type'
import type { Place } from '../records/newest-page.ts'
import { deny, type HostDenial } from './codes.ts'

/** The longest cursor, in characters. */
const MAX_CURSOR = 120
const foreign = 'must come from an earlier nextCursor'

/** The query parameters of a paged list: `limit`, of at most `most`, and `cursor`. */
export const pageParameters = (most = 100, defaultLimit = 20) => ({
  limit: Type.Integer({
    minimum: 1,
    maximum: most,
    default: defaultLimit,
    description: 'Most items of a page',
    expected: `must be an integer from 1 to ${most}`,
  }),
  cursor: Type.Optional(
    Type.String({
      pattern: `^[A-Za-z0-9_-]{1,${MAX_CURSOR}}$`,
      description: '`nextCursor` of the page before',
      expected: foreign,
    }),
  ),
})

/** Reads the position after which a page begins: 0 without a cursor. Denial: `invalid_request`. */
export function readCursor(cursor: string | undefined): Verdict<number, HostDenial> {
  if (cursor === undefined) return allow(0)
  const found = matchCursor(/^after:([1-9]\d{0,14})$/, cursor)
  return found ? allow(Number(found[1])) : foreignCursor
}

/**
 * Reads the cursor of a list of the issuer, which is ordered by an instant and then by id: what `positionCursor` has made of the last
 * item before. Denial: `invalid_request`.
 */
export function readPositionCursor(
  cursor: string | undefined,
): Verdict<{ readonly after?: ListPosition }, HostDenial> {
  if (cursor === undefined) return allow({})
  const found = matchCursor(/^at:([1-9]\d{0,14}):([A-Za-z0-9_-]{1,64})$/, cursor)
  return found ? allow({ after: { at: Number(found[1]), id: found[2] as string } }) : foreignCursor
}

/** Reads the cursor of a list that `readNewest` reads. Undefined without a cursor. Denial: `invalid_request`. */
export function readPlaceCursor(cursor: string | undefined): Verdict<Place | undefined, HostDenial> {
  if (cursor === undefined) return allow(undefined)
  const found = matchCursor(/^at:([1-9]\d{0,14}):([1-9]\d{0,14})$/, cursor)
  return found ? allow({ at: Number(found[1]), position: Number(found[2]) }) : foreignCursor
}

/** The cursor of the page after a place in a list that `readNewest` reads. */
export function placeCursor({ at, position }: Place): string {
  return positionCursor({ at, id: String(position) })
}

const foreignCursor: HostDenial = deny('invalid_request', `cursor ${foreign}`, { field: 'cursor' })

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
export function positionCursor({ at, id }: ListPosition): string {
  return encoded(`at:${at}:${id}`)
}

/** The cursor of the page after a position. */
function cursorOf(position: number): string {
  return encoded(`after:${position}`)
}

function encoded(text: string): string {
  return Buffer.from(text, 'latin1').toString('base64url')
}

/** Matches what a cursor encodes with a pattern. */
function matchCursor(pattern: RegExp, cursor: string): RegExpExecArray | null {
  const found = pattern.exec(Buffer.from(cursor, 'base64url').toString('latin1'))
  // The decoder skips characters outside base64url, so the cursor is compared with its own encoding.
  return found && encoded(found[0]) === cursor ? found : null
}

const INSTANT = '^\\d{4}-\\d{2}-\\d{2}(?:T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,3})?Z)?$'
const expected = 'must be a date, such as 2026-11-30, or a UTC timestamp, such as 2026-11-30T12:00:00Z'

/** The query parameters that choose the time of creation. Times are UTC. */
export const createdRange = {
  from: Type.Optional(
    Type.String({
      pattern: INSTANT,
      description: 'Only those that were created at this time or later. A date stands for its start in UTC',
      expected,
    }),
  ),
  to: Type.Optional(
    Type.String({
      pattern: INSTANT,
      description: 'Only those that were created before this time. A date stands for its end in UTC',
      expected,
    }),
  ),
}

/** Reads `createdRange`. Denial: `invalid_request` for a date or time that does not exist, and for a `to` that is not after `from`. */
export function rangeOf({
  from,
  to,
}: {
  readonly from?: string | undefined
  readonly to?: string | undefined
}): Verdict<{ readonly from?: EpochMs | undefined; readonly to?: EpochMs | undefined }, HostDenial> {
  const start = from === undefined ? undefined : readInstant(from)
  const last = to === undefined ? undefined : readInstant(to)
  if (from !== undefined && start === undefined)
    return deny('invalid_request', `from ${expected}`, { field: 'from' })
  if (to !== undefined && last === undefined)
    return deny('invalid_request', `to ${expected}`, { field: 'to' })
  const end = last === undefined || to?.includes('T') ? last : last + DAY_MS
  if (start !== undefined && end !== undefined && end <= start)
    return deny('invalid_request', 'to must be after from', { field: 'to' })
  return allow({ from: start, to: end })
}

const DAY_MS = 86_400_000

/** Undefined for a date that does not exist, such as February 30. */
function readInstant(text: string): EpochMs | undefined {
  const date = new Date(text.includes('T') ? text : `${text}T00:00:00Z`)
  const exists = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text.slice(0, 19))
  return exists && date.getTime() >= 0 ? date.getTime() : undefined
}
