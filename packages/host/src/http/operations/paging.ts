import { allow, type Verdict, type EpochMs } from '@gatewright/kernel'
import { parseInstant } from '@gatewright/kernel/internal'
import type { ListPosition } from '@gatewright/session-issuer/internal'
import * as Type from 'typebox/type'
import type { Place } from '../../records/newest-page.ts'
import { DATE_OR_INSTANT, isDate } from '../../schemas/instant.ts'
import { deny, type HostDenial } from '../codes.ts'

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
  cursor: (row: T) => string = row => cursorOf(row.position),
): { readonly items: readonly T[]; readonly nextCursor: string | null } {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  if (found.length <= limit || !last) return { items, nextCursor: null }
  return { items, nextCursor: cursor(last) }
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

const expected = 'must be a date, such as 2026-11-30, or an instant (RFC 3339), such as 2026-11-30T12:00:00Z'

const RANGE_END = DATE_OR_INSTANT.replace('[+-]', '[+ -]')

/** The query parameters that choose the time of creation. Times are UTC. */
export const createdRange = {
  from: Type.Optional(
    Type.String({
      pattern: RANGE_END,
      description: 'Only those that were created at this time or later. A date stands for its start in UTC',
      expected,
    }),
  ),
  to: Type.Optional(
    Type.String({
      pattern: RANGE_END,
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
  const end = last !== undefined && to !== undefined && isDate(to) ? last + DAY_MS : last
  if (start !== undefined && end !== undefined && end <= start)
    return deny('invalid_request', 'to must be after from', { field: 'to' })
  return allow({ from: start, to: end })
}

const DAY_MS = 86_400_000

/** Reads a date or an instant. Undefined for one that does not exist, such as February 30. */
function readInstant(text: string): EpochMs | undefined {
  // A form, or a query that is not encoded, sends the sign of an offset as a space.
  return parseInstant(isDate(text) ? `${text}T00:00:00Z` : text.replace(/ (?=\d\d:\d\d$)/, '+'))
}
