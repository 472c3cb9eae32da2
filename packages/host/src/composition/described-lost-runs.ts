import { storedForm } from '@gatewright/http/internal'
import { isoOrNull } from '../cli/cell.ts'
import type { LostRuns } from '@gatewright/idempotency-store'
import type { DescribedRun, ListedLostRun } from '@gatewright/idempotency-store/internal'

/** A lost run in the output for operators. Its instants are RFC 3339. */
export interface DescribedLostRun {
  /** Identifies the run. */
  readonly run: string
  readonly operation: string
  readonly account: string
  /** The `operationId` that the client got. */
  readonly operationId: string
  readonly beganAt: string
  /** Null if the handler reported that it does not know the outcome. */
  readonly leaseEndedAt: string | null
}

/** A page of lost runs. `next` is the `after` of the next page. */
export interface DescribedLostRuns {
  readonly runs: readonly DescribedLostRun[]
  readonly next: string | undefined
}

/** The record of a run, with the latest decision about a lost run of its key. */
export interface DescribedRunRecord extends Omit<DescribedLostRun, 'leaseEndedAt'> {
  readonly state: DescribedRun['state']
  readonly until: string | null
  readonly decision: {
    readonly outcome: string
    readonly by: string
    readonly reason: string
    readonly at: string
  } | null
}

/** An operator's decision about a lost run. */
export interface OperatorDecision {
  readonly outcome: 'never_happened' | 'completed'
  /** With `completed`: retries of the client get 200 with this as `data`. */
  readonly data: Readonly<Record<string, unknown>>
  readonly by: string
  readonly reason: string
}

/** Writes with an idempotency key whose outcome is unknown, as operators see and decide them. */
export const describedLostRuns = {
  /** Lists them page by page. */
  async list(lostRuns: LostRuns, page: Parameters<LostRuns['list']>[0]): Promise<DescribedLostRuns> {
    const { runs, next } = await lostRuns.list(page)
    return {
      next,
      runs: runs.map(run => ({ ...named(run), leaseEndedAt: isoOrNull(run.leaseEndedAt) })),
    }
  },

  /** Describes the record of a run; undefined if the key has no record. */
  async show(lostRuns: LostRuns, run: string): Promise<DescribedRunRecord | undefined> {
    const record = await lostRuns.show(run)
    if (!record) return undefined
    const { state, until, decision } = record
    return {
      ...named(record),
      state,
      until: isoOrNull(until),
      decision: decision && {
        outcome: decision.outcome,
        by: decision.by,
        reason: decision.reason,
        at: new Date(decision.at).toISOString(),
      },
    }
  },

  /** Decides about a lost run. False: the run is not lost. Of several simultaneous decisions, one returns true. */
  async decide(
    lostRuns: LostRuns,
    run: string,
    { outcome, data, by, reason }: OperatorDecision,
  ): Promise<boolean> {
    if (outcome === 'never_happened') return lostRuns.release(run, { by, reason })
    // Stored like the response of a handler: without the envelope.
    const body = { data, summary: 'The operator found that this request took effect.' }
    const response = storedForm({ kind: 'response', response: { status: 200, headers: [], body } })
    return lostRuns.resolve(run, { by, reason, response })
  },
}

function named(run: Omit<ListedLostRun, 'leaseEndedAt'>): Omit<DescribedLostRun, 'leaseEndedAt'> {
  const { id, operation, account, effectId, beganAt } = run
  return {
    run: id,
    operation,
    account,
    operationId: effectId,
    beganAt: new Date(beganAt).toISOString(),
  }
}
