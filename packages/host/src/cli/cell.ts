import type { EpochMs } from '@gatewright/kernel'
import { escapedLine, type Style, wrap } from '../observability/terminal.ts'
import { money } from '../schemas/us-dollars.ts'

/**
 * How a value is shown. An `id` is never cut: it is pasted into the next command. A terminal shows the first `SHORT_ID` characters of a
 * `shortId`, which the command that shows one row takes, too.
 */
export type CellKind = 'text' | 'id' | 'shortId' | 'cents' | 'instant' | 'state' | 'list'

/** How many characters of a long id a terminal shows. */
export const SHORT_ID = 8

/** A column of a table: its head, and how its values are shown. */
export interface Column {
  readonly head: string
  readonly kind: CellKind
}

/**
 * Returns the kind of a value by the name of its member: `amountCents` is money, `createdAt` an instant, `keyId` an id. Other names
 * are text.
 */
export function kindOf(name: string): CellKind {
  if (name.endsWith('Cents')) return 'cents'
  if (name === 'at' || name.endsWith('At')) return 'instant'
  if (name === 'id' || name === 'kid' || name.endsWith('Id') || name.endsWith('Address')) return 'id'
  if (name === 'state' || name === 'status') return 'state'
  return name === 'scopes' ? 'list' : 'text'
}

/** Formats an instant (RFC 3339); null for none. */
export function isoOrNull(at: EpochMs | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}

/** Returns a value as a program reads it: `-` for null and an empty list, texts of a list with spaces between them. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (isTexts(value)) return escapedLine(value.join(' ')) || '-'
  return escapedLine(typeof value === 'string' ? value : JSON.stringify(value))
}

/** Returns a value of a table as a person reads it: money, a short instant in UTC, the number of entries of a list. */
export function shownCell(value: unknown, { head, kind }: Column, now: EpochMs): string {
  if (kind === 'list' && isTexts(value) && value.length > 1) return `${value.length} ${head.toLowerCase()}`
  return shownValue(value, kind, now)
}

function shownValue(value: unknown, kind: CellKind, now: EpochMs): string {
  if (kind === 'cents' && typeof value === 'number') return money(value)
  if (kind === 'instant' && typeof value === 'string') return shortInstant(value, now)
  if (kind === 'shortId') return cellText(value).slice(0, SHORT_ID)
  return cellText(value)
}

/** `11-23 17:08` in this year, `2025-11-23` in another one, in UTC as in logs. */
function shortInstant(iso: string, now: EpochMs): string {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(iso)) return cellText(iso)
  const sameYear = iso.slice(0, 4) === new Date(now).toISOString().slice(0, 4)
  return sameYear ? `${iso.slice(5, 10)} ${iso.slice(11, 16)}` : iso.slice(0, 10)
}

const GOOD = /^(?:live|active|approved|completed|settled|authorized|cleared)$/
const WAITING = /^(?:pending|ready|open|submitted|review|announced|processing|confirming)$/
const BAD = /^(?:denied|declined|failed|lost|rejected|reversed)$/
const ENDED = /^(?:revoked|expired|canceled|retired|frozen)$/

/** Returns the colour of a state. Other values have none. */
export function styleOf(value: unknown, kind: CellKind): Style | undefined {
  if (kind !== 'state' || typeof value !== 'string') return undefined
  if (GOOD.test(value)) return 'green'
  if (WAITING.test(value)) return 'yellow'
  if (BAD.test(value)) return 'red'
  return ENDED.test(value) ? 'dim' : undefined
}

/** Returns the lines of a value beside the name of its field. Nothing is cut. */
export function fieldLines(value: unknown, name: string, width: number, now: EpochMs): readonly string[] {
  const kind = kindOf(name)
  const text =
    kind === 'instant' && typeof value === 'string' ? longInstant(value) : shownValue(value, kind, now)
  return wrap(text, width)
}

/** `2026-11-23 17:08:12 UTC` */
function longInstant(iso: string): string {
  return iso.replace(/^(\S{10})T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/, '$1 $2 UTC')
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(item => typeof item === 'string')
}
