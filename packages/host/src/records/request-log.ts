import type { Decision } from '@gatewright/http'
import { storableText } from '@gatewright/kernel/internal'
import type { Clock } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import { sentence } from './sentence.ts'
import { hasCode } from './cause.ts'
import { insertRequests, NO_ACCOUNT, READ_METHODS, requests, type RecordedRequest } from './requests.ts'

/** The names of the choices of which decisions are kept. */
export const REQUEST_LOG_MODES = ['off', 'refusals', 'writes', 'all'] as const
/** Which decisions are kept: none, refusals and failures, these and all writes, or also every read that succeeds. */
export type RequestLogMode = (typeof REQUEST_LOG_MODES)[number]

/** How many of an account's requests are kept, about: the newest ones. */
export const KEPT_PER_ACCOUNT = 1000
/** After how many written rows an account's older ones are deleted. */
const TRIM_AFTER = 100
/** Most rows that wait to be written: 2 MB as a rule, 20 MB at most. What does not fit is dropped and counted. */
const MAX_WAITING = 2000
/** Most rows of one account that wait, so that one that is refused all the time leaves room for others. */
export const MAX_WAITING_PER_ACCOUNT = 200
/** Rows of one statement. */
const ROWS_AT_ONCE = 50
/** Most accounts of which this process knows how many rows it wrote, and most keys of which it knows whether a console has them. */
const MAX_COUNTED = 10_000
/** How many keys are looked up at once. */
const LOOKED_UP_AT_ONCE = 20
const MAX_MESSAGE = 300
/** The operation of a message that calls no tool. */
export const TOOL_MESSAGE = 'mcp'
const MAX_DETAILS = 1500
/** The longest other text of a row, in characters. Names and ids of a host are shorter. */
const MAX_TEXT = 100
/** How an error lies at its row: a value that the column does not take, a rule of the table, or a limit of the database. */
const ROW_ERROR = /^(?:22|23|54)[0-9A-Z]{3}$|^SQLITE_(?:CONSTRAINT|MISMATCH|TOOBIG|RANGE)/

/** Keeps the decisions about requests in the database, for those who ask why a request was refused. */
export interface RequestLog {
  /** Takes a decision. It only adds a row to a buffer, so that no request waits for the database or fails with it. */
  record(decision: Decision): void
  /**
   * Writes what waits. Rows that were recorded before the call are stored when it resolves, but for those that the database refuses, which
   * are dropped. If the database fails, it rejects, and the rows wait for the next call.
   */
  flush(): Promise<void>
  /** How many rows were dropped, because more came than the database takes, or because it refused the row. */
  readonly dropped: number
}

/** Makes the log. Call `flush` every few seconds and before the process ends. */
export function createRequestLog({
  db,
  clock,
  mode,
  isConsole,
}: {
  readonly db: SqlClient
  readonly clock: Clock
  readonly mode: RequestLogMode
  /** Whether a key is that of an account console. */
  readonly isConsole: (keyId: string) => Promise<boolean>
}): RequestLog {
  const markConsoles = consoleMarker(isConsole)
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
      dropped += await insertAll(db, await markConsoles(batch))
      for (const accountId of long) await requests.trim(db, accountId, KEPT_PER_ACCOUNT)
    } catch (error) {
      const kept = batch.slice(Math.max(0, batch.length + waiting.length - MAX_WAITING))
      dropped += batch.length - kept.length
      waiting = [...kept, ...waiting]
      for (const { accountId } of kept) waitingOf.set(accountId, (waitingOf.get(accountId) ?? 0) + 1)
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

/** Makes the function that marks the reads by consoles. It looks a key up once, and only for a read. */
function consoleMarker(
  isConsole: (keyId: string) => Promise<boolean>,
): (batch: readonly RecordedRequest[]) => Promise<readonly RecordedRequest[]> {
  const known = new Map<string, boolean>()
  const isRead = ({ method }: RecordedRequest): boolean => READ_METHODS.includes(method)
  return async batch => {
    if (known.size > MAX_COUNTED) known.clear()
    const ids = new Set(batch.flatMap(row => (row.keyId !== null && isRead(row) ? [row.keyId] : [])))
    const unknown = [...ids].filter(id => !known.has(id))
    for (let at = 0; at < unknown.length; at += LOOKED_UP_AT_ONCE)
      await Promise.all(
        unknown.slice(at, at + LOOKED_UP_AT_ONCE).map(async id => known.set(id, await isConsole(id))),
      )
    return batch.map(row => ({ ...row, console: isRead(row) && known.get(row.keyId ?? '') === true }))
  }
}

/** Inserts rows, and resolves to how many of them the database refused. Rejects if it failed: then some may be stored. */
async function insertAll(db: SqlClient, batch: readonly RecordedRequest[]): Promise<number> {
  try {
    await db.transaction(async tx => {
      for (let at = 0; at < batch.length; at += ROWS_AT_ONCE)
        await insertRequests(tx, batch.slice(at, at + ROWS_AT_ONCE))
    })
    return 0
  } catch (error) {
    // It would refuse the row again. One such row must not lose the others.
    if (!hasCode(error, ROW_ERROR)) throw error
    if (batch.length === 1) return 1
    const middle = batch.length >> 1
    return (await insertAll(db, batch.slice(0, middle))) + (await insertAll(db, batch.slice(middle)))
  }
}

/** Whether a decision is kept. One without an operation is not: nobody looks for it, and scanners cause many. */
function isKept(mode: RequestLogMode, { status, method, operation }: Decision): boolean {
  if (mode === 'off' || operation === undefined) return false
  // Messages of clients of tools, such as the list, are sent by POST and change nothing.
  const isRead = READ_METHODS.includes(method) || operation === TOOL_MESSAGE
  return status >= 400 || mode === 'all' || (mode === 'writes' && !isRead)
}

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
  const { code, rule, reason, denial, replayed, byTool, durationMs } = decision
  return {
    id: short(requestId),
    accountId: short(accountId),
    at: now,
    method: short(method),
    operation: short(operation),
    keyId: shortOrNull(keyId),
    // The session of a key that was presented itself is made for one request.
    sessionId: shortOrNull(sessionId?.includes(':') ? undefined : sessionId),
    credential: shortOrNull(credential),
    status,
    code: shortOrNull(code),
    rule: shortOrNull(rule),
    reason: shortOrNull(reason),
    message: denial === undefined ? null : storableText(sentence(denial.message, denial.field), MAX_MESSAGE),
    field: shortOrNull(denial?.field),
    details: shortDetails(denial?.details),
    replayed,
    byTool,
    durationUs: Math.round(durationMs * 1000),
    console: false,
  }
}

const short = (text: string): string => storableText(text, MAX_TEXT)
const shortOrNull = (text: string | undefined): string | null => (text === undefined ? null : short(text))

/** Returns the facts of a denial, unless they are long. */
function shortDetails(details: Readonly<Record<string, unknown>> = {}): RecordedRequest['details'] {
  const isShort = Object.keys(details).length > 0 && JSON.stringify(details).length <= MAX_DETAILS
  return isShort ? details : null
}
