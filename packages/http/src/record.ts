import type { Denial, EpochMs, Verdict } from '@gatewright/kernel'
import { faultAnswer, wire, withFields, type HeaderField } from './answer.ts'
import { failure } from './enter.ts'
import type { RequestFacts } from './facts.ts'
import type { Settings } from './options.ts'
import type {
  AccessLike,
  ClaimLike,
  IdempotencyPart,
  RecordedAnswer,
  SpendGuardPart,
  WireAnswer,
} from './parts.ts'
import { reservationsOf, type Reservations } from './reservations.ts'
import type { Admitted, GuardedCall, Prepare } from './stages.ts'

/** How a run ends. */
export type Ending = Pick<Admitted<never>, 'settle' | 'fail' | 'lose'>

/** A call whose handler may run. */
export interface Started {
  readonly call: object
  readonly ending: Ending
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
  readonly prepare: Prepare<AccessLike, unknown> | undefined
}

/** Begins the record of a write: the call to run, the answer of an earlier run, or a refusal. */
export async function startRun(
  recording: Recording,
  guarded: GuardedCall<AccessLike>,
): Promise<Started | Denial | WireAnswer> {
  const { operation, idempotency, accountOf, spending, reserves, prepare } = recording
  const { facts, access, body } = guarded
  const begun = await idempotency.begin({
    account: accountOf(access),
    operation,
    key: facts.header('idempotency-key'),
    method: facts.method,
    body,
  })
  if (!begun.ok) return begun
  if (begun.value.state === 'replay') {
    const { answer, expiresAt } = begun.value
    const refused = answer.spends && (await forbidden(recording, access, answer.spends))
    return refused ?? withFields(answer, [['Idempotency-Replayed', 'true'], ...expiry(expiresAt)])
  }
  const { claim } = begun.value
  const ready = prepare && (await prepareRun(recording, prepare, guarded, claim))
  if (ready && !ready.ok) return ready
  const prepared = ready?.value
  const effect = { effectId: claim.effectId, fence: claim.fence }
  if (!spending || !reserves) {
    return { call: { effect, prepared, ...guarded }, ending: endingOf(recording, facts, claim) }
  }
  const reservations = reservationsOf(spending, access, claim.effectId)
  const { reserve } = reservations
  const ending = endingOf(recording, facts, claim, reservations)
  return { call: { reserve, effect, prepared, ...guarded }, ending }
}

/** Why the caller may not have an earlier answer: what its run has reserved is over their limits on one operation. */
async function forbidden(
  { operation, spending }: Recording,
  access: AccessLike,
  spends: NonNullable<RecordedAnswer['spends']>,
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

/** Runs `prepare`. Nothing can have happened when it refuses or fails: the key is freed. */
async function prepareRun(
  { settings, operation, idempotency }: Recording,
  prepare: Prepare<AccessLike, unknown>,
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

/** Tells the client until when the same key gets this answer. */
function expiry(expiresAt: EpochMs | undefined): readonly HeaderField[] {
  return expiresAt === undefined ? [] : [['Idempotency-Expires', new Date(expiresAt).toUTCString()]]
}

/** Classified as unknown, whatever the framework makes of the error. */
const FAILED: WireAnswer = { status: 500, headers: [], body: '' }

/** How the run of an idempotent write ends, whether or not the client is still there. */
function endingOf(
  { operation, settings, idempotency }: Recording,
  facts: RequestFacts,
  claim: ClaimLike,
  reservations?: Reservations,
): Ending {
  const complete = (answer: WireAnswer): ReturnType<IdempotencyPart['complete']> =>
    reservations
      ? reservations.end(answer, (recorded, undo) => idempotency.complete(claim, recorded, undo))
      : idempotency.complete(claim, answer)
  const settle: Ending['settle'] = async answer => {
    try {
      const { state, expiresAt } = await complete(answer)
      if (state !== 'late') return withFields(answer, expiry(expiresAt))
      settings.report({ operation, error: new Error('the run outlived its lease: raise lockMs') })
      return wire(faultAnswer({ retryAfterSeconds: 1 }, settings.shapeOf(facts)))
    } catch (error) {
      settings.report({ operation, error })
      return answer
    }
  }
  return {
    settle,
    fail: error => settle(failure(settings, operation, facts, error)),
    lose: async () => void (await settle(FAILED)),
  }
}
