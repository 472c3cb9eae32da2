import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '@gatewright/kernel'
import type { IncrementDeclineReason } from './states.ts'

/** The time limit of a response to a card network. The network waits 2 seconds; the rest is for the round trip. */
const DECIDED_WITHIN_MS = 1800
/** The pauses between attempts to undo a late decision: 10 minutes in total. */
const UNDO_PAUSES_MS = [1000, 5000, 30_000, 60_000, 120_000, 180_000, 204_000]
/** How many attempts an authorization or increment stores: the latest. */
const MAX_ATTEMPTS = 20

/** The response to a card network. */
export interface NetworkResponse {
  /**
   * `repeated`: this id was decided before, and keeps its decision. `conflict`: this id was decided before, with other terms.
   * `unavailable`: the database was down or late.
   */
  readonly outcome: 'applied' | 'repeated' | 'conflict' | 'unavailable'
  readonly decision: {
    readonly approved: boolean
    readonly authorizationId: string
    /** `reversed`: it was approved before, and the network or the operator has reversed it. */
    readonly declineReason: IncrementDeclineReason | 'reversed' | 'conflict' | null
  }
}

/** One attempt to decide, with its progress. */
export interface Attempt {
  readonly id: string
  /** Whether the response was sent already. */
  late: boolean
  /** Whether it wrote rows that may be committed. */
  mayBeStored: boolean
}

/** A decision for a card network, and how to undo it. */
interface TimedDecision {
  /** The host's id of the authorization. */
  readonly authorizationId: string
  /** Decides, in a transaction that ends with `writeInTime`. Undefined: the host does not have the object of the request. */
  decide(attempt: Attempt): Promise<NetworkResponse | undefined>
  /** Undoes the decision that this attempt made or repeated, unless the response of another attempt may have been `approved`. */
  undo(attempt: Attempt): Promise<void>
}

/** Thrown to roll a transaction back: the network was already told that the payment is not approved. */
class TooLate extends Error {}

/**
 * Runs what an attempt writes, as the last step of its transaction. Rolls the transaction back if the response was sent already: then nothing
 * is stored.
 */
export async function writeInTime<T>(attempt: Attempt, write: () => Promise<T>): Promise<T> {
  attempt.mayBeStored = true
  const written = await write()
  if (!attempt.late) return written
  attempt.mayBeStored = false
  throw new TooLate()
}

/** Adds an attempt to those whose response may be `approved`. */
export function withAttempt(attempts: readonly string[], { id }: Attempt): readonly string[] {
  return [...attempts, id].slice(-MAX_ATTEMPTS)
}

/**
 * Responds to a card network within 1.8 seconds. If the database is down or late, the payment is not approved. If the decision
 * is made after that response, it is undone; this is tried for 10 minutes. Undefined: the host does not have the object of the
 * request. `report` is called with errors of work that continues after the response.
 */
export async function responseInTime(
  { authorizationId, decide, undo }: TimedDecision,
  report: (error: unknown) => void,
): Promise<NetworkResponse | undefined> {
  const attempt: Attempt = { id: randomUUID(), late: false, mayBeStored: false }
  const timer = new AbortController()
  const timeUp = sleep(DECIDED_WITHIN_MS, 'late' as const, { signal: timer.signal }).catch(
    () => 'late' as const,
  )
  const deciding = decide(attempt)
  const decided = deciding.catch((error: unknown) => {
    if (error instanceof Fault) return 'late' as const
    throw error
  })
  const response = await Promise.race([decided, timeUp]).finally(() => timer.abort())
  if (response !== 'late') return response
  attempt.late = true
  void undoLate(attempt, deciding, undo, report).catch(report)
  return {
    outcome: 'unavailable',
    decision: { approved: false, authorizationId, declineReason: 'unavailable' },
  }
}

/** Undoes an attempt after it has ended, for example a commit whose reply was lost. While the database is down, it tries again. */
async function undoLate(
  attempt: Attempt,
  deciding: Promise<unknown>,
  undo: TimedDecision['undo'],
  report: (error: unknown) => void,
): Promise<void> {
  await deciding.catch(() => {})
  // Otherwise each request during an outage of the database would try for 10 minutes to undo nothing.
  if (!attempt.mayBeStored) return
  for (const pauseMs of UNDO_PAUSES_MS) {
    try {
      return await undo(attempt)
    } catch (error) {
      report(error)
      await sleep(pauseMs, undefined, { ref: false })
    }
  }
  await undo(attempt)
}
