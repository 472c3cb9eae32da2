/**
 * Why the database rolled a transaction back, which may succeed when it runs again: it conflicted with simultaneous ones (40001, 40P01),
 * or a statement was prepared before its tables changed (`plan`).
 */
export type RetryReason = 'serialization' | 'deadlock' | 'plan'

const REASONS: Readonly<Record<string, RetryReason>> = { '40001': 'serialization', '40P01': 'deadlock' }
/** No retry begins later than this after the first attempt. */
const GIVE_UP_MS = 10_000
const FIRST_PAUSE_MS = 4
const LONGEST_PAUSE_MS = 500
/** An error wraps that of the driver, which has the code: Prisma three times, and our fault once more. */
const DEEPEST_CAUSE = 6

/** The members of an error of `pg`, of mysql2 or of an ORM that say what failed. */
interface DriverError {
  readonly code?: unknown
  /** The SQLSTATE in an error of mysql2. */
  readonly sqlState?: unknown
  /** The function of Postgres that reported it. */
  readonly routine?: unknown
  readonly cause?: unknown
  /** The error of the driver in one of Sequelize. */
  readonly parent?: unknown
  /** What Prisma knows about the error, which has its code or that of an adapter. */
  readonly meta?: unknown
  /** The error of the adapter in `meta` of Prisma, and in its cause the SQLSTATE. */
  readonly driverAdapterError?: unknown
  readonly originalCode?: unknown
}

/** Begins the codes of Prisma, which look like SQLSTATEs. In Postgres only P0 begins codes. */
const OF_PRISMA = /^P[1-9]/

/** Returns the error of the driver: the first of an error and what it wraps that has a SQLSTATE. */
export function driverError(error: unknown): DriverError | undefined {
  let at = error as DriverError | null | undefined
  for (let depth = 0; depth < DEEPEST_CAUSE && typeof at === 'object' && at !== null; depth++) {
    const code = sqlStateOf(at)
    if (/^[0-9A-Z]{5}$/.test(code) && !OF_PRISMA.test(code)) return at
    at = (at.cause ?? at.parent ?? at.driverAdapterError ?? at.meta) as typeof at
  }
  return undefined
}

const sqlStateOf = ({ sqlState, originalCode, code }: DriverError): string =>
  String(sqlState ?? originalCode ?? code)

/** Returns the SQLSTATE of an error or one of its causes. */
export function codeOf(error: unknown): string | undefined {
  const found = driverError(error)
  return found && sqlStateOf(found)
}

/** Whether a statement failed because its tables have changed since it was prepared, so that its result has other columns or types. */
export function isOutdatedPlan(error: unknown): boolean {
  // The message is translated, and its code is that of all features that Postgres lacks.
  return driverError(error)?.routine === 'RevalidateCachedQuery'
}

/** Returns why the database rolled back what failed with this error, so that it may run again. Undefined: the error is another one. */
export function reasonOf(error: unknown): RetryReason | undefined {
  return isOutdatedPlan(error) ? 'plan' : REASONS[codeOf(error) ?? '']
}

/** Which attempts run again. */
export interface Retries {
  /** How many times, at most. */
  readonly most: number
  /** Called before each. */
  readonly onRetry: (reason: RetryReason) => void
}

/** What an attempt reports besides its error. */
export interface Attempt {
  /** Set by an attempt that may have been committed, whatever its error says. It never runs again. */
  mayBeCommitted: boolean
}

/**
 * Runs `run` again when the database has rolled it back for one of these reasons, after a random pause whose bound doubles
 * each time. Rethrows the error of the last attempt.
 */
export async function withRetries<T>(
  { most, onRetry }: Retries,
  run: (attempt: Attempt) => Promise<T>,
): Promise<T> {
  const giveUpAt = performance.now() + GIVE_UP_MS
  for (let retry = 0; ; retry++) {
    const attempt: Attempt = { mayBeCommitted: false }
    try {
      return await run(attempt)
    } catch (error) {
      const mayRepeat = retry < most && !attempt.mayBeCommitted && performance.now() < giveUpAt
      const reason = mayRepeat && reasonOf(error)
      if (!reason) throw error
      onRetry(reason)
      // Random: transactions that failed because of each other would meet again.
      const bound = Math.min(FIRST_PAUSE_MS * 2 ** retry, LONGEST_PAUSE_MS)
      await new Promise(resolve => setTimeout(resolve, Math.random() * bound))
    }
  }
}
