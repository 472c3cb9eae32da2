import { Fault, type Denial, type EpochMs, type Verdict, type HeaderField } from '@gatewright/kernel'
import type { Notes } from './decision.ts'
import type { Settings } from './options.ts'
import { keptForm, type Outcome } from './outcome.ts'
import type {
  AccessLike,
  ClaimLike,
  IdempotencyPart,
  RecordedAnswer,
  SpendGuardPart,
  WireAnswer,
} from './parts.ts'
import { reservationsOf, type Reservations } from './reservations.ts'
import type { GuardedCall, Prepare } from './stages.ts'

/** How a run ends. Never fails: when the store does, the true outcome still stands and the fault is reported. */
export interface Ending {
  /** By an outcome: that one, or a failure when another run has decided meanwhile. */
  end(outcome: Outcome): Promise<{ readonly outcome: Outcome; readonly fields: readonly HeaderField[] }>
  /** By an answer that is written already; `instead` when another run has decided meanwhile. */
  settle(
    written: WireAnswer,
  ): Promise<{ readonly instead?: Outcome; readonly fields: readonly HeaderField[] }>
}

/** A call whose handler may run. */
export interface Started {
  readonly call: object
  readonly ending: Ending
}

/** The answer of an earlier run. */
export interface Replayed {
  readonly replayed: WireAnswer
  readonly fields: readonly HeaderField[]
}

/** What the record of an operation works with. */
export interface Recording {
  readonly settings: Settings
  readonly operation: string
  readonly idempotency: IdempotencyPart
  readonly accountOf: (access: AccessLike) => string
  /** The guard, where it counts spends. */
  readonly spending: SpendGuardPart<AccessLike, unknown> | undefined
  /** Whether the operation reserves. */
  readonly reserves: boolean
  readonly prepare: Prepare<GuardedCall<AccessLike>, unknown> | undefined
}

/** Begins the record of a write: the call to run, the answer of an earlier run, or a refusal. */
export async function startRun(
  recording: Recording,
  guarded: GuardedCall<AccessLike>,
  notes: Notes,
): Promise<Started | Denial | Replayed> {
  const { operation, idempotency, accountOf, spending, reserves, prepare } = recording
  const { facts, access, body } = guarded
  const startedAt = performance.now()
  const begun = await idempotency.begin({
    account: accountOf(access),
    operation,
    key: facts.header('idempotency-key'),
    method: facts.method,
    body,
  })
  notes.storeMs += performance.now() - startedAt
  if (!begun.ok) return begun
  if (begun.value.state === 'replay') {
    const { response: answer, expiresAt } = begun.value
    const forbidden = await replayForbidden(operation, spending, access, answer)
    return forbidden ?? { replayed: answer, fields: recordFields(true, expiresAt) }
  }
  const { claim } = begun.value
  const ready = prepare && (await prepareRun(recording, prepare, guarded, claim))
  if (ready && !ready.ok) return ready
  const prepared = ready?.value
  const effect = { effectId: claim.effectId, fence: claim.fence }
  if (!spending || !reserves) {
    return { call: { effect, prepared, ...guarded }, ending: endingOf(recording, claim, notes) }
  }
  const reservations = reservationsOf(spending, access, claim.effectId)
  const { reserve } = reservations
  const ending = endingOf(recording, claim, notes, reservations)
  return { call: { reserve, effect, prepared, ...guarded }, ending }
}

/** Why the caller may not have an earlier answer: what its run has reserved is over their limits on one operation. */
export async function replayForbidden(
  operation: string,
  spending: SpendGuardPart<AccessLike, unknown> | undefined,
  access: AccessLike,
  { spends = [] }: RecordedAnswer,
): Promise<Denial | undefined> {
  for (const spend of spends) {
    if (!spending) {
      throw new TypeError(
        `${operation}: an answer with spends needs a guard with reserve, release and permits`,
      )
    }
    const verdict = await spending.permits(access, spend)
    if (!verdict.ok) return verdict
  }
  return undefined
}

/** Tells the client that an answer is an earlier one, and until when the same key gets it. */
export function recordFields(
  replayed: boolean,
  expiresAt: EpochMs | null | undefined,
): readonly HeaderField[] {
  const fields: HeaderField[] = replayed ? [['Idempotency-Replayed', 'true']] : []
  if (typeof expiresAt === 'number') fields.push(['Idempotency-Expires', new Date(expiresAt).toUTCString()])
  return fields
}

/** Runs `prepare`. Nothing can have happened when it refuses or fails: the key is freed. */
async function prepareRun(
  { settings, operation, idempotency }: Recording,
  prepare: Prepare<GuardedCall<AccessLike>, unknown>,
  guarded: GuardedCall<AccessLike>,
  claim: ClaimLike,
): Promise<Verdict<unknown>> {
  let ready = false
  try {
    const verdict = await prepare(guarded)
    if (typeof verdict?.ok !== 'boolean') throw new TypeError(`prepare of ${operation} must return a verdict`)
    ready = verdict.ok
    return verdict
  } finally {
    if (!ready) {
      try {
        await idempotency.release?.(claim)
      } catch (error) {
        settings.report({ operation, error })
      }
    }
  }
}

/** How the run of an idempotent write ends, whether or not the client is still there. */
function endingOf(
  { operation, settings, idempotency }: Recording,
  claim: ClaimLike,
  notes: Notes,
  reservations?: Reservations,
): Ending {
  const complete = (answer: WireAnswer): ReturnType<IdempotencyPart['complete']> =>
    reservations
      ? reservations.end(answer, (recorded, undo) => idempotency.complete(claim, recorded, undo))
      : idempotency.complete(claim, answer)
  const settle: Ending['settle'] = async written => {
    const startedAt = performance.now()
    try {
      const { state, expiresAt } = await complete(written)
      if (state !== 'late') return { fields: recordFields(false, expiresAt) }
      const error = new Fault('ERR_LEASE_LOST', 'the run outlived its lease: raise leaseMs')
      return { instead: { kind: 'failure', error }, fields: [] }
    } catch (error) {
      settings.report({ operation, error })
      return { fields: [] }
    } finally {
      notes.storeMs += performance.now() - startedAt
    }
  }
  return {
    settle,
    async end(outcome) {
      const { ended, kept } = keepable(outcome)
      const { instead, fields } = await settle(kept)
      return { outcome: instead ?? ended, fields }
    },
  }
}

/** What is kept of an outcome. An answer that JSON cannot write is a failure, before the run ends by it. */
function keepable(outcome: Outcome): { readonly ended: Outcome; readonly kept: WireAnswer } {
  try {
    return { ended: outcome, kept: keptForm(outcome) }
  } catch (error) {
    const ended: Outcome = { kind: 'failure', error }
    return { ended, kept: keptForm(ended) }
  }
}
