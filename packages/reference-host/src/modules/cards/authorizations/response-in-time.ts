import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '@gatewright/kernel'
import type { IncrementDeclineReason } from './states.ts'

/** Within what time the host responds to a card network, which waits for 2 seconds. The rest is for the network's round trip. */
const DECIDED_WITHIN_MS = 1800
/** How long to wait between tries to undo what came too late: 10 minutes in total. */
const UNDO_PAUSES_MS = [1000, 5000, 30_000, 60_000, 120_000, 180_000, 204_000]
/** Most attempts that an authorization or increment names: the latest. */
const MAX_ATTEMPTS = 20

/** The response to a card network. */
export interface NetworkResponse {
  /**
   * `repeated`: this id was decided before, and keeps its decision. `conflict`: this id was decided before, for something else.
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

/** One try to decide, and how far it is. */
export interface Attempt {
  readonly id: string
  /** Whether the response was sent already. */
  late: boolean
  /** Whether it wrote something that may be committed. */
  mayBeStored: boolean
}

/** What is asked of the host, and how to take it back. */
interface TimedDecision {
  /** Our id of the authorization that is decided about. */
  readonly authorizationId: string
  /** Decides, in a transaction that ends with `commitInTime`. Undefined: what the request names does not exist here. */
  decide(attempt: Attempt): Promise<NetworkResponse | undefined>
  /** Takes back what this attempt made or repeated, unless another attempt's response may have said approved. */
  undo(attempt: Attempt): Promise<void>
}

/** Thrown in a transaction to roll it back: the response said that the payment is not approved. */
class TooLate extends Error {}

/** Rolls the transaction of an attempt back if the response was sent already. Call it last in the transaction. */
export function commitInTime(attempt: Attempt): void {
  if (!attempt.late) return
  attempt.mayBeStored = false
  throw new TooLate()
}

/** Adds an attempt to those whose response may have said approved. */
export function withAttempt(attempts: readonly string[], { id }: Attempt): readonly string[] {
  return [...attempts, id].slice(-MAX_ATTEMPTS)
}

/**
 * Responds to a card network within 1.8 seconds. If the database is down or late, the payment is not approved. If the decision
 * is made after that response, it is undone; this is tried for 10 minutes. Undefined: the object of the request does not exist here.
 * `report` is called with errors of work that goes on after the response.
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

/** Undoes an attempt once it has ended, such as a commit whose reply was lost. While the database is away it is tried again. */
async function undoLate(
  attempt: Attempt,
  deciding: Promise<unknown>,
  undo: TimedDecision['undo'],
  report: (error: unknown) => void,
): Promise<void> {
  await deciding.catch(() => {})
  // While the database is down, each request would try for 10 minutes to undo nothing.
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
