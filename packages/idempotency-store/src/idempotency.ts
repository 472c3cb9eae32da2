import type { Verdict, EpochMs } from '@gatewright/kernel'
import { integerOption } from '@gatewright/kernel/internal'
import type { IdempotencyDenial } from './codes.ts'
import type { Claim } from './execution/claim.ts'
import { createCoordinator } from './execution/coordinator.ts'
import { decide, type ExecutionStrategy } from './execution/decide.ts'
import { endRun, type EndPlan } from './execution/end-run.ts'
import { createLeases } from './execution/leases.ts'
import { checkedSettings, type IdempotencyBaseOptions, type Settings } from './options.ts'
import { within } from './execution/timer.ts'
import { identify, type IdempotentRequest } from './request/identify.ts'
import { labelOf } from './request/label.ts'
import { encrypted } from './response/encryption.ts'
import { retain } from './response/retention.ts'
import { classify, type StoredResponse } from './response/stored-response.ts'
import type { BeginResult, IdempotencyStorage } from './storage/port.ts'

/** Options of `createIdempotency`. */
export interface IdempotencyOptions extends IdempotencyBaseOptions {
  readonly storage: IdempotencyStorage
  /**
   * How long a run may take while its process is alive, in ms, `leaseMs` to 604 800 000 (7 days): until then the process extends the
   * lease three times per `leaseMs`. Then the run is lost. A process that is killed or frozen loses its run when the lease ends, so `leaseMs`
   * can be short. Default: `leaseMs`, so no lease is extended.
   */
  readonly maxRunMs?: number
}

/** What `begin` returns: run the write, or replay an earlier response. */
export type RunOrReplay =
  | { readonly state: 'started'; readonly claim: Claim }
  | {
      readonly state: 'replay'
      readonly response: StoredResponse
      readonly expiresAt: EpochMs
      /** The id of the effect of the run that responded. */
      readonly effectId: string
    }

/** What `complete` did. */
type Completion =
  /** The response is stored, and replayed while `now < expiresAt`. */
  | { readonly state: 'stored'; readonly expiresAt: EpochMs }
  /** The status says that nothing happened: the key is free. */
  | { readonly state: 'released' }
  /** The status does not say whether the effect happened: the run is lost. */
  | { readonly state: 'unknown' }
  /** Another run or a recovery has decided about the key. Nothing was changed. */
  | { readonly state: 'late' }

/** Decides whether a write is new, running, done, or of unknown outcome. */
export interface Idempotency {
  /** How long a run may take, in ms: the option `maxRunMs`, by default `leaseMs`. */
  readonly maxRunMs: number
  /**
   * Starts a write, replays its response, or denies it. Of simultaneous calls one starts; the others wait up to `waitMs` for
   * its response. Authorise the caller before: a replay must be authorised too.
   * Denials: all of this package. Faults: `ERR_STORE_*`; then the write must not run.
   */
  begin(request: IdempotentRequest): Promise<Verdict<RunOrReplay, IdempotencyDenial>>
  /**
   * Ends a run with its response; `classify` says which are stored. If the store fails, it is tried three times; then the fault
   * is thrown, and the run is lost when its lease ends. Call it, and wait for it, also when the client has disconnected.
   *
   * `undo` releases what the run holds elsewhere, such as a reservation under its `effectId`. It is called only before a denial
   * frees the key. If it throws, the run is lost and the error is rethrown. In the last quarter of the lease and later it is
   * not called, because the next run of the key may hold the same reservation by then: the run is lost (`unknown`, or `late`).
   * For the same reason call `mayUndo` before each of several releases, and throw if it returns false: the last quarter is for
   * a release that is under way.
   */
  complete(
    claim: Claim,
    response: StoredResponse,
    undo?: (mayUndo: () => boolean) => Promise<void>,
  ): Promise<Completion>
  /**
   * Makes sure that a run which has had no effect yet has at least three quarters of its lease left. Call it after slow work
   * and before the effect. Returns the claim to continue with: the same one, without I/O, while at most a quarter of the lease
   * is used; otherwise one with a whole lease, and after the end of the lease also with a larger fence. Undefined: another run or a recovery has decided about the
   * key, so this one must not cause its effect: call `begin` again. Faults: `ERR_STORE_*`; then the write must not run.
   */
  renew(claim: Claim): Promise<Claim | undefined>
  /**
   * Frees the key. Call it only if the handler knows that nothing happened, never because something failed: a failed
   * effect may have happened. Returns false if another run or a recovery has decided about the key.
   */
  release(claim: Claim): Promise<boolean>
  /**
   * Waits until every run that this process has started has ended, but at most `atMostMs`, by default `maxRunMs`: a run whose handler
   * never responds counts as lost then. Resolves to the number of runs that have not ended. Wait for it before the process exits.
   */
  drained(atMostMs?: number): Promise<number>
}

/** Makes idempotent writes whose effect and record are in different places. Throws a `TypeError` for a wrong option. */
export function createIdempotency(options: IdempotencyOptions): Idempotency {
  const settings = checkedSettings('createIdempotency', options, { storage: true, maxRunMs: true })
  const { leaseMs } = settings
  const maxRunMs = integerOption(
    'createIdempotency: maxRunMs',
    options.maxRunMs ?? leaseMs,
    leaseMs,
    LONGEST_RUN_MS,
  )
  const given = options.storage
  if (typeof given?.begin !== 'function' || typeof given.end !== 'function') {
    throw new TypeError(
      'createIdempotency: storage must be an IdempotencyStorage, such as memoryIdempotency() or postgresIdempotency(db)',
    )
  }
  const coordinator = createCoordinator(settings, encrypted(given, settings.encryption))
  const { storage, runs } = coordinator
  const leases = createLeases(coordinator, maxRunMs)
  const now = (): EpochMs => settings.clock.now()
  const strategy: ExecutionStrategy<Extract<BeginResult, { state: 'started' }>, RunOrReplay> = {
    attempt({ request, storageKey, effectId }) {
      const startedAt = now()
      return storage.begin(storageKey, effectId, startedAt + leaseMs, startedAt, labelOf(request))
    },
    started({ storageKey, effectId }, { fence }, leaseUntil) {
      const claim = { storageKey, fence, effectId, leaseUntil }
      leases.keep(claim)
      return { state: 'started', claim }
    },
    replayed: ({ response, expiresAt }, { effectId }) => ({ state: 'replay', response, expiresAt, effectId }),
  }

  const undoAndEnd = async (
    claim: Claim,
    plan: EndPlan<Completion>,
    undo: (mayUndo: () => boolean) => Promise<void>,
  ): Promise<Completion> => {
    const mayUndo = (): boolean => now() < leases.endOf(claim) - leaseMs / 4
    if (!mayUndo()) return endRun(coordinator, claim, LOSE_RUN)
    try {
      await undo(mayUndo)
    } catch (error) {
      await endRun(coordinator, claim, LOSE_RUN)
      throw error
    }
    return endRun(coordinator, claim, plan)
  }

  // `begin` and `complete` are not `async`: each further promise costs time on every request, most of all where a host traces
  // requests with `AsyncLocalStorage` (npm run bench -- idempotency-store).
  return {
    maxRunMs,

    begin(request) {
      try {
        const identified = identify(request, settings)
        return identified.ok ? decide(coordinator, identified.value, strategy) : Promise.resolve(identified)
      } catch (error) {
        return Promise.reject(error)
      }
    },

    complete(claim, response, undo) {
      try {
        const plan = planEnd(response, now() + settings.retentionMs, settings)
        return undo && plan.ending.state === 'free'
          ? undoAndEnd(claim, plan, undo)
          : endRun(coordinator, claim, plan)
      } catch (error) {
        // Not a valid response. The duplicates in this process stop waiting and ask the store.
        runs.endClaimed(claim)
        return Promise.reject(error)
      }
    },

    async release(claim) {
      const ending = { state: 'free', expiresAt: now() + settings.retentionMs } as const
      return endRun(coordinator, claim, { ending, ended: true, late: false })
    },

    renew: async claim => (now() <= leases.endOf(claim) - 0.75 * leaseMs ? claim : leases.renew(claim)),

    drained: (atMostMs = maxRunMs) => within(settings.timer, atMostMs, timeUp => runs.drained(timeUp)),
  }
}

const LONGEST_RUN_MS = 604_800_000
const LATE = { state: 'late' } as const
const LOSE_RUN: EndPlan<Completion> = {
  ending: { state: 'lost' },
  ended: { state: 'unknown' },
  late: LATE,
}

/** Decides by its status how a response ends the run. */
function planEnd(response: StoredResponse, expiresAt: EpochMs, settings: Settings): EndPlan<Completion> {
  switch (classify(response.status)) {
    case 'denied':
      return { ending: { state: 'free', expiresAt }, ended: { state: 'released' }, late: LATE }
    case 'unknown':
      return LOSE_RUN
    case 'final': {
      const { ending, replay } = retain(response, expiresAt, settings)
      return { ending, replay, ended: { state: 'stored', expiresAt }, late: LATE }
    }
  }
}
