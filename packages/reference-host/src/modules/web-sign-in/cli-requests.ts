import { createHash, randomBytes, randomInt } from 'node:crypto'
import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toText } from '@gatewright/kernel/internal/sql'
import type { WebSession } from '@gatewright/host/internal'
import { type Row, hostTable, instant, json, nullable, oneOf, text } from '@gatewright/host/tables'
import type { RequestedKey } from './approved-key.ts'

const requests = hostTable('gw_cli_requests', {
  requestId: text,
  tokenDigest: text,
  /** 8 characters, without the dash. */
  code: text,
  status: oneOf<'started' | 'approved' | 'taken' | 'denied'>(),
  clientName: nullable(text),
  clientAddress: text,
  requestedKey: json<RequestedKey>(),
  startedAt: instant,
  expiresAt: instant,
})
/** A sign-in that a command line requests and a person approves in a browser. */
export type CliRequest = Omit<Row<typeof requests>, 'tokenDigest' | 'status'>

/** A request that was just started, with the secret that its command line polls with. */
interface StartedRequest extends CliRequest {
  readonly requestToken: string
}

/** The outcome of a poll. An expired request is unknown. */
export type PollOutcome =
  | { readonly state: 'pending'; readonly expiresAt: EpochMs }
  | { readonly state: 'completed'; readonly session: WebSession }
  | { readonly state: 'taken' | 'denied' | 'unknown' }

const LIFETIME_MS = 600_000
/** Without vowels and digits that look like letters. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ23456789'
const CODE_LENGTH = 8
const MAX_WRONG_CODES = 5

const NAMED = '(request_id = $1 or token_digest = $2)'
const OPEN = `${NAMED} and status = 'started' and expires_at > $3`
// Each is one statement: of any number of simultaneous calls, every wrong code counts, and one call makes each change of state.
const ENTER_CODE = `update gw_cli_requests set
    wrong_codes = wrong_codes + case when code = $4 then 0 else 1 end,
    status = case when code <> $4 and wrong_codes + 1 >= ${MAX_WRONG_CODES} then 'denied'
      when code = $4 and $5 = 'deny' then 'denied' else status end
  where ${OPEN} returning ${requests.columns}`
const APPROVE = `update gw_cli_requests set status = 'approved', session = $2
  where request_id = $1 and status = 'started' and expires_at > $3 returning request_id`
const TAKE = `update gw_cli_requests set status = 'taken'
  where token_digest = $1 and status = 'approved' and expires_at > $2 returning session`

const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex')

/** Starts a request. Only the digest of its token is stored. */
export async function startRequest(
  db: SqlQueries,
  asked: Pick<CliRequest, 'clientName' | 'clientAddress' | 'requestedKey'>,
  now: EpochMs,
): Promise<StartedRequest> {
  const expiresAt = now + LIFETIME_MS
  const started = {
    requestId: randomBytes(16).toString('hex'),
    // The token contains the end of the request, so that a poll that comes too soon is answered without a query.
    requestToken: `${randomBytes(32).toString('base64url')}.${expiresAt}`,
    code: Array.from({ length: CODE_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join(''),
    ...asked,
    startedAt: now,
    expiresAt,
  }
  const { requestToken, ...request } = started
  const row = { ...request, tokenDigest: digestOf(requestToken), status: 'started' } as const
  if (!(await requests.insert(db, row))) throw new Error('two requests have one random id')
  return started
}

/** Returns the end of the request from its token; undefined if the text is not a request token. */
export function endOf(requestToken: string): EpochMs | undefined {
  const [, end] = /^[\w-]{43}\.(\d{13})$/.exec(requestToken) ?? []
  return end === undefined ? undefined : Number(end)
}

/** Finds an open request by its id or its token. */
export async function findOpen(db: SqlQueries, id: string, now: EpochMs): Promise<CliRequest | undefined> {
  return (await requests.select(db, `where ${OPEN}`, [id, digestOf(id), now]))[0]
}

/** A code that a person has typed. */
interface EnteredCode {
  /** The id or the token of the request. */
  readonly id: string
  readonly typed: string
  /** What the person does with it. Default: `go on`. */
  readonly next?: 'go on' | 'deny'
}

/**
 * Checks the code of an open request, before it is approved or denied. Undefined for a wrong code, which is counted: the fifth
 * one ends the request.
 */
export async function enterCode(
  db: SqlQueries,
  { id, typed, next = 'go on' }: EnteredCode,
  now: EpochMs,
): Promise<CliRequest | undefined> {
  const code = typed.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')
  const [row] = await rows(db, ENTER_CODE, [id, digestOf(id), now, code, next])
  return row && row['code'] === code ? requests.read(row) : undefined
}

/** Approves a request of a command line for the account that signed in. False if the request is not open. */
export async function approve(
  db: SqlQueries,
  requestId: string,
  session: WebSession,
  now: EpochMs,
): Promise<boolean> {
  return (await rows(db, APPROVE, [requestId, JSON.stringify(session), now])).length === 1
}

/** Returns whether a request was approved, and takes its session. Of any number of simultaneous calls, one gets the session. */
export async function poll(db: SqlQueries, requestToken: string, now: EpochMs): Promise<PollOutcome> {
  const digest = digestOf(requestToken)
  const [request] = await requests.select(db, 'where token_digest = $1', [digest])
  if (!request || now >= request.expiresAt) return { state: 'unknown' }
  const { status, expiresAt } = request
  if (status === 'started') return { state: 'pending', expiresAt }
  if (status === 'denied') return { state: 'denied' }
  const [taken] = status === 'approved' ? await rows(db, TAKE, [digest, now]) : []
  return taken
    ? { state: 'completed', session: JSON.parse(toText(taken['session'])) as WebSession }
    : { state: 'taken' }
}

/** Deletes up to `limit` requests that have ended, and resolves to their number. */
export async function collectRequests(db: SqlQueries, limit: number, now: EpochMs): Promise<number> {
  const text = `delete from gw_cli_requests where request_id in
    (select request_id from gw_cli_requests where expires_at <= $1 order by expires_at limit $2) returning 1`
  return (await rows(db, text, [now, limit])).length
}
