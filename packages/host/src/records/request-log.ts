import type { Decision } from '@gatewright/http'
import type { Clock } from '@gatewright/kernel/internal'
import type { SqlClient } from '@gatewright/kernel/sql'
import { insertRequests, NO_ACCOUNT, requests, type RecordedRequest } from './requests.ts'

/** The names of the choices of which decisions are kept. */
export const REQUEST_LOG_MODES = ['off', 'refusals', 'writes', 'all'] as const
/** Which decisions are kept: none, refusals and failures, these and all writes, or also every read that succeeds. */
export type RequestLogMode = (typeof REQUEST_LOG_MODES)[number]

/** How many of an account's requests are kept, about: the newest ones. */
export const KEPT_PER_ACCOUNT = 1000
/** After how many written rows an account's older ones are deleted. */
const TRIM_AFTER = 100
/** Most rows that wait to be written: about 2 MB. What does not fit is dropped and counted. */
const MAX_WAITING = 2000
/** Most rows of one account between two writes, so that one that is refused all the time leaves room for others. */
const MAX_WAITING_PER_ACCOUNT = 200
/** Rows of one statement. */
const ROWS_AT_ONCE = 50
/** Most accounts of which this process knows how many rows it wrote. */
const MAX_COUNTED = 10_000
const MAX_MESSAGE = 300
const MAX_DETAILS = 1500

/** Keeps the decisions about requests in the database, for those who ask why a request was refused. */
export interface RequestLog {
  /** Takes a decision. It only adds a row to a buffer, so that no request waits for the database or fails with it. */
  record(decision: Decision): void
  /**
   * Writes what waits. Rows that were recorded before the call are stored when it resolves. If the database fails, it rejects, and the rows
   * wait for the next call.
   */
  flush(): Promise<void>
  /** How many rows were dropped, because more came than the database takes. */
  readonly dropped: number
}

/** Makes the log. Call `flush` every few seconds and before the process ends. */
export function createRequestLog({
  db,
  clock,
  mode,
}: {
  readonly db: SqlClient
  readonly clock: Clock
  readonly mode: RequestLogMode
}): RequestLog {
  let waiting: RecordedRequest[] = []
  let waitingOf = new Map<string, number>()
  /** How many rows this process has written of each account since it deleted older ones. */
  const written = new Map<string, number>()
  let dropped = 0
  let last: Promise<void> = Promise.resolve()

  const write = async (): Promise<void> => {
    if (waiting.length === 0) return
    const batch = waiting
    waiting = []
    waitingOf = new Map()
    try {
      const long = longAccounts(batch, written)
      await db.transaction(async tx => {
        for (let at = 0; at < batch.length; at += ROWS_AT_ONCE)
          await insertRequests(tx, batch.slice(at, at + ROWS_AT_ONCE))
        for (const accountId of long) await requests.trim(tx, accountId, KEPT_PER_ACCOUNT)
      })
    } catch (error) {
      const kept = batch.slice(Math.max(0, batch.length + waiting.length - MAX_WAITING))
      dropped += batch.length - kept.length
      waiting = [...kept, ...waiting]
      throw error
    }
  }
  return {
    record(decision) {
      if (!isKept(mode, decision)) return
      const accountId = decision.accountId ?? NO_ACCOUNT
      const ofAccount = waitingOf.get(accountId) ?? 0
      if (waiting.length >= MAX_WAITING || ofAccount >= MAX_WAITING_PER_ACCOUNT) {
        dropped += 1
        return
      }
      waitingOf.set(accountId, ofAccount + 1)
      waiting.push(recordOf(decision, accountId, clock.now()))
    },
    flush() {
      last = last.catch(() => {}).then(write)
      return last
    },
    get dropped() {
      return dropped
    },
  }
}

/** Whether a decision is kept. One without an operation is not: nobody looks for it, and scanners cause many. */
function isKept(mode: RequestLogMode, { status, method, operation }: Decision): boolean {
  if (mode === 'off' || operation === undefined) return false
  return status >= 400 || mode === 'all' || (mode === 'writes' && !READS.has(method))
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Counts the rows of a batch, and returns the accounts with so many since the last time that older rows must be deleted. */
function longAccounts(batch: readonly RecordedRequest[], written: Map<string, number>): readonly string[] {
  if (written.size > MAX_COUNTED) written.clear()
  for (const { accountId } of batch) written.set(accountId, (written.get(accountId) ?? 0) + 1)
  const long = [...written].flatMap(([accountId, count]) => (count >= TRIM_AFTER ? [accountId] : []))
  for (const accountId of long) written.delete(accountId)
  return long
}

function recordOf(decision: Decision, accountId: string, now: number): RecordedRequest {
  const { requestId, method, operation = '', keyId, sessionId, credential, status } = decision
  const { code, rule, reason, denial, replayed, durationMs } = decision
  return {
    id: requestId,
    accountId,
    at: now,
    method,
    operation,
    keyId: keyId ?? null,
    // The session of a key that was presented itself is made for one request.
    sessionId: sessionId === undefined || sessionId.includes(':') ? null : sessionId,
    credential: credential ?? null,
    status,
    code: code ?? null,
    rule: rule ?? null,
    reason: reason ?? null,
    message: denial?.message.slice(0, MAX_MESSAGE) ?? null,
    field: denial?.field ?? null,
    details: shortDetails(denial?.details),
    replayed,
    durationUs: Math.round(durationMs * 1000),
  }
}

/** Returns the facts of a denial, unless they are long. */
function shortDetails(details: Readonly<Record<string, unknown>> = {}): RecordedRequest['details'] {
  const isShort = Object.keys(details).length > 0 && JSON.stringify(details).length <= MAX_DETAILS
  return isShort ? details : null
}
