import { Fault, type Denial, type Verdict, type EpochMs, type HeaderField } from '@gatewright/kernel'
import { setBackgroundTimer, shownName } from '@gatewright/kernel/internal'
import type { Settings } from '../options.ts'
import type { AccessLike, IdempotencyPort, RecordedResponse, SpendGuardPort, WireResponse } from '../ports.ts'
import type { CanonicalFacts } from '../request/facts.ts'
import type { Decision, DecisionDraft } from '../response/decision.ts'
import type { UnknownCause } from '../response/hint.ts'
import type { Outcome } from '../response/outcome.ts'
import type { GuardedCall, IdempotentOptions, WriteOptions } from '../handler-types.ts'
import { inDialect, type DialectTerms } from './dialect.ts'
import { hadNoEffect, statusesOf, type HandlerFailure } from '../response/no-effect.ts'
import {
  checkedAmount,
  createReservations,
  MOST_HOLDS,
  returned,
  type RunReservations,
} from './reservations.ts'
import { writeFacts } from './write-facts.ts'

/** The end of a run: the header fields that say what is stored, and a failure to send instead, if another run of the key has completed meanwhile. */
interface RecordEnd {
  readonly instead?: Outcome
  readonly fields: readonly HeaderField[]
}

/** The idempotency record of one run. Its functions never reject: a fault of the store is reported. */
export interface RunRecord {
  readonly noEffectStatuses: ReadonlySet<number>
  /** Ends the run with a response, which is stored or frees the key as its status says. */
  end(output: WireResponse): Promise<RecordEnd>
  /** Ends the run of a handler that failed. Its key is free if the team has declared that such a failure had no effect, else the outcome is unknown. */
  fail(failure: HandlerFailure): Promise<RecordEnd>
  /**
   * Records that the outcome is unknown because somebody else has responded while the handler goes on. Its reservations stay open, and each
   * of the other functions can still end the run, until a recovery or an operator has decided.
   */
  leaveUnknown(status: number): Promise<void>
}

/** A write whose handler may run: its call, which has more members than that of a guarded request, and its record. */
interface StartedRecord {
  readonly call: object
  readonly record: RunRecord
}

/** What the idempotency record of an operation needs. */
export interface RecordDependencies {
  readonly settings: Settings
  readonly operation: string
  /** Whether bodies of the operation may have old field names. */
  readonly hasOldFields: boolean
  readonly idempotency: IdempotencyPort
  /** Returns the owner of an idempotency key. */
  readonly accountOf: (access: AccessLike, facts: CanonicalFacts) => string
  /** Whether the query is part of a write. Undefined: it is for an existing handler only. */
  readonly comparesQuery: boolean | undefined
  /** The guard, if it counts spends. */
  readonly spending: SpendGuardPort | undefined
  /** Whether the operation's rule spends. */
  readonly reserves: boolean
  readonly prepare: WriteOptions<AccessLike>['prepare'] | undefined
  /** Computes what the operation spends, before its handler. */
  readonly amount: IdempotentOptions<AccessLike>['amount'] | undefined
  /** The statuses of errors that the team declares to be thrown before any effect. */
  readonly noEffectStatuses: ReadonlySet<number>
}

type Claim = Parameters<IdempotencyPort['complete']>[0]

/** The result of beginning the record of a write: the run, the response of an earlier run, or a denial. */
type Start =
  | StartedRecord
  | Denial
  | { readonly stored: WireResponse; readonly fields: readonly HeaderField[] }

/**
 * Begins the record of a write. Returns the run, the response of an earlier run, or a denial. If another run took the key over while
 * `prepare` ran, begins a second time and so finds that run. `comparesQuery`: whether the query is part of the write, where the route does
 * not say. Fault: `ERR_LEASE_LOST` if the key was taken over twice.
 */
export async function startRecord(
  dependencies: RecordDependencies,
  guarded: GuardedCall<AccessLike>,
  decision: DecisionDraft,
  comparesQuery: boolean,
): Promise<Start> {
  const begin = (): Promise<Start | undefined> => tryStart(dependencies, guarded, decision, comparesQuery)
  const start = (await begin()) ?? (await begin())
  if (start) return start
  throw new Fault('ERR_LEASE_LOST', 'prepare outlived its lease twice: limit its calls to far below leaseMs')
}

/** Begins the record of a write, once. Undefined: another run took the key over while `prepare` ran. */
async function tryStart(
  dependencies: RecordDependencies,
  guarded: GuardedCall<AccessLike>,
  decision: DecisionDraft,
  comparesQueryByDefault: boolean,
): Promise<Start | undefined> {
  const {
    settings,
    operation,
    idempotency,
    accountOf,
    comparesQuery = comparesQueryByDefault,
    prepare,
  } = dependencies
  const startedAt = performance.now()
  const begin = await idempotency.begin(
    writeFacts(operation, accountOf(guarded.access, guarded.facts), guarded, comparesQuery),
  )
  decision.storeMs += performance.now() - startedAt
  if (!begin.ok) {
    if (begin.code === 'outcome_unknown') noteUnknown(decision, begin)
    return inDialect(settings.dialect, begin)
  }
  if (begin.value.state === 'replay') {
    const { response, expiresAt, effectId } = begin.value
    decision.effectId = effectId
    const denial = await checkReplay(dependencies, guarded, response)
    return denial ?? { stored: response, fields: recordFields(settings.dialect, true, expiresAt) }
  }
  const { effectId } = begin.value.claim
  const ready =
    prepare &&
    (await orFree(dependencies, begin.value.claim, async () =>
      checkedVerdict(operation, await prepare(guarded, { effectId })),
    ))
  if (ready && !ready.ok) return ready
  const prepared = ready?.value
  // The handler needs a whole lease, and `prepare` has used part of this one.
  const renew = prepare && idempotency.renew?.bind(idempotency)
  const claim = renew ? await renew(begin.value.claim) : begin.value.claim
  if (!claim) return undefined
  const effect = { effectId: claim.effectId, fence: claim.fence }
  decision.effectId = claim.effectId
  return startRun(dependencies, { effect, prepared, ...guarded }, claim, decision)
}

/** Makes the run of a claim, and holds what it spends before its handler. A denial of that amount frees the key. */
async function startRun(
  dependencies: RecordDependencies,
  call: GuardedCall<AccessLike> & { readonly effect: object; readonly prepared: unknown },
  claim: Claim,
  decision: DecisionDraft,
): Promise<Start> {
  const { settings, operation, spending, reserves, amount } = dependencies
  const { effectId } = claim
  if (!spending || !reserves) return { call, record: createRecord(dependencies, claim, decision) }
  const reservations = createReservations({
    operation,
    guard: spending,
    access: call.access,
    effectId,
    approval: spending.approvals === undefined ? undefined : { requestId: effectId, effectId },
    most: MOST_HOLDS,
    advice:
      'give it a function that returns the amount (the option amount; with gatewright, spends), or call reserve before the effect',
    settlesInFull: amount !== undefined,
  })
  const { reserve, spendsNothing } = reservations
  const record = (): RunRecord => createRecord(dependencies, claim, decision, reservations)
  if (!amount) return { call: { reserve, spendsNothing, ...call }, record: record() }
  const held = await orFree(dependencies, claim, async () => {
    const given = checkedAmount(operation, () => amount(call))
    const verdict = await reserve(given)
    // A client can send such an amount only through a body without a schema.
    if (!verdict.ok && verdict.code === 'invalid_request')
      settings.hints.mistake(`${operation} amount`, `${operation}: ${returned(given)}`)
    return verdict
  })
  return held.ok ? { call: { hold: held.value, ...call }, record: record() } : held
}

/** Notes the run that a denial is about, for the decision event. */
function noteUnknown(decision: DecisionDraft, { details }: Denial): void {
  const id = details?.['operationId']
  decision.outcome = 'unknown'
  decision.effectId = typeof id === 'string' ? id : undefined
}

/** Denies a replay if an amount that its run reserved exceeds the caller's limits on a single operation. */
export async function checkReplay(
  { operation, hasOldFields, spending }: Pick<RecordDependencies, 'operation' | 'hasOldFields' | 'spending'>,
  { access, json }: GuardedCall<AccessLike>,
  { spends = [] }: RecordedResponse,
): Promise<Denial | undefined> {
  // No handler reads the body of a replay. It is read here, so that the response also announces the old names in it.
  if (hasOldFields) json()
  for (const amount of spends) {
    if (!spending) {
      throw new TypeError(
        `${operation}: a stored response has spends, so the guard must have reserve, release and permits`,
      )
    }
    const verdict = await spending.permits(access, amount)
    if (!verdict.ok) return verdict
  }
  return undefined
}

/** Makes the header fields that say whether a response is a replay, and until when the same key returns it. */
export function recordFields(
  { replayedField }: DialectTerms,
  replayed: boolean,
  expiresAt: EpochMs | null | undefined,
): readonly HeaderField[] {
  const fields: HeaderField[] = replayed ? [[replayedField, 'true']] : []
  if (typeof expiresAt === 'number') fields.push(['Idempotency-Expires', new Date(expiresAt).toUTCString()])
  return fields
}

/** Runs a step before the handler. If it denies or throws, nothing has taken effect, and the key is freed. */
async function orFree<T>(
  { settings, operation, idempotency }: RecordDependencies,
  claim: Claim,
  step: () => Promise<Verdict<T>>,
): Promise<Verdict<T>> {
  let mayRun = false
  try {
    const verdict = await step()
    mayRun = verdict.ok
    return verdict
  } finally {
    if (!mayRun) {
      try {
        await idempotency.release?.(claim)
      } catch (error) {
        settings.report({ operation, error })
      }
    }
  }
}

function checkedVerdict(operation: string, verdict: Verdict<unknown>): Verdict<unknown> {
  if (typeof verdict?.ok !== 'boolean') throw new TypeError(`prepare of ${operation} must return a verdict`)
  return verdict
}

/** A response that releases what the run holds and frees its key, because nothing has taken effect. It is never sent. */
const NO_EFFECT: WireResponse = { status: 400, headers: [], body: '' }
/** A response that leaves the outcome of a run unknown. It is never sent. */
const UNKNOWN: WireResponse = { status: 500, headers: [], body: '' }

/** Makes the record of a run whose handler starts now. It ends in the same way whether or not the client is still connected. */
function createRecord(
  { operation, settings, idempotency, noEffectStatuses }: RecordDependencies,
  claim: Claim,
  decision: DecisionDraft,
  reservations?: RunReservations,
): RunRecord {
  const report = (error: unknown): void => settings.report({ operation, error })
  const { maxRunMs } = idempotency
  const waiting =
    maxRunMs === undefined
      ? undefined
      : setBackgroundTimer(
          () => settings.hints.mistake(`${operation} response`, noResponse(operation, claim, maxRunMs)),
          maxRunMs / 2,
        )
  const complete = (output: WireResponse): ReturnType<IdempotencyPort['complete']> =>
    reservations
      ? reservations.end(output, (recorded, undo) => idempotency.complete(claim, recorded, undo), report)
      : idempotency.complete(claim, output)
  const end = async (output: WireResponse, whyUnknown: UnknownCause): Promise<RecordEnd> => {
    clearTimeout(waiting)
    const startedAt = performance.now()
    let cause = whyUnknown
    let failed: { readonly instead?: Outcome } = {}
    // Until the store says something else.
    decision.outcome = 'unknown'
    try {
      const missing = await reservations?.close(output.status)
      if (missing) {
        cause = { text: `${missing.code}: ${missing.message}` }
        failed = { instead: { kind: 'failure', error: missing } }
      }
      const { state, expiresAt } = await complete(missing ? UNKNOWN : output)
      decision.outcome = runOutcome(state)
      if (state !== 'late') return { fields: recordFields(settings.dialect, false, expiresAt), ...failed }
      const error = new Fault('ERR_LEASE_LOST', 'the run outlived its lease: raise leaseMs')
      return { instead: { kind: 'failure', error }, fields: [] }
    } catch (error) {
      cause = { text: 'its end could not be recorded' }
      report(error)
      return { fields: [], ...failed }
    } finally {
      decision.storeMs += performance.now() - startedAt
      if (decision.outcome === 'unknown') settings.hints.unknownOutcome(operation, claim.effectId, cause)
    }
  }
  return {
    noEffectStatuses,
    end: output => end(output, { text: `the response has the status ${output.status}` }),
    fail(failure) {
      const noEffect = hadNoEffect(noEffectStatuses, failure)
      if (noEffect) reservations?.releaseAll()
      return end(noEffect ? NO_EFFECT : UNKNOWN, { text: failureText(failure), wasThrown: true })
    },
    async leaveUnknown(status) {
      clearTimeout(waiting)
      decision.outcome = 'unknown'
      await idempotency.complete(claim, UNKNOWN).catch(report)
      settings.hints.unknownOutcome(operation, claim.effectId, {
        text: `a response of status ${status} was sent before the handler is known to have ended, as a time-out does`,
      })
    },
  }
}

/** Describes a run whose handler has not responded after half of the time that it may take. */
const noResponse = (operation: string, { effectId }: Claim, maxRunMs: number): string =>
  `${operation}: the handler of the run ${effectId} has not responded for ${maxRunMs / 2} ms. After ${maxRunMs} ms its outcome is unknown and its key locked: let every path of the handler return or send a response, give what it waits for a time limit, or raise leaseMs or maxRunMs of idempotency`

const runOutcome = (state: string): Decision['outcome'] =>
  state === 'stored' || state === 'released' || state === 'unknown' || state === 'late' ? state : undefined

/** Describes a failure for the operator: the name of the error and its status, but not its message, which may have values of a request. */
function failureText({ error, status }: HandlerFailure): string {
  if (error === undefined) return `an error handler responded with ${status}`
  const name = error instanceof Error ? error.name : typeof error
  const statuses = statusesOf(error)
  return `the handler threw ${shownName(name)}${statuses.length === 0 ? '' : ` with status ${statuses[0]}`}`
}
