import { knownOptions, type EpochMs, type Verdict, type OptionNames } from '@gatewright/kernel'
import { classify, type StoredAnswer } from './answer.ts'
import type { IdempotencyDenial } from './codes.ts'
import { decide, modeOf, type Way } from './decide.ts'
import { end, keeping, type Outcome } from './ending.ts'
import { checkedOptions, COMMON_OPTIONS, type CommonOptions, type Settings } from './options.ts'
import { identify, type RequestFacts } from './request.ts'
import type { KeptAnswer } from './runs.ts'
import type { Begun, IdempotencyStorage } from './storage/port.ts'

/** Options of `createIdempotency`. */
export interface IdempotencyOptions extends CommonOptions {
  readonly storage: IdempotencyStorage
}

const OPTIONS: OptionNames<IdempotencyOptions> = { ...COMMON_OPTIONS, storage: true }

/** The right to run a write once. Plain data. */
export interface Claim {
  readonly storageKey: string
  /** Grows with every run of the key. A receiver that refuses a fence below the highest seen shuts late runs out. */
  readonly fence: number
  /** Stable name of the effect, equal for every run of the same request. */
  readonly effectId: string
  /** Until then nobody else decides about the run. */
  readonly leaseUntil: EpochMs
}

/** The caller runs the write, or replays an earlier answer. */
export type Begin =
  | { readonly state: 'started'; readonly claim: Claim }
  | ({ readonly state: 'replay' } & KeptAnswer)

/** What `complete` came to. */
export type Completion =
  /** The answer is kept and replayed while `now < expiresAt`. */
  | { readonly state: 'stored'; readonly expiresAt: number }
  /** The answer says that nothing happened: the key is free. */
  | { readonly state: 'released' }
  /** The answer does not say what happened: the next caller meets a lost run. */
  | { readonly state: 'unknown' }
  /** Another run or a recovery has decided about the key; nothing was changed. */
  | { readonly state: 'late' }

/** Decides whether a write is new, running, done, or of unknown outcome. */
export interface Idempotency {
  /**
   * Starts a write or says why not. Of any number of simultaneous calls one is started; the others wait up to
   * `waitMs` for its answer. Authorise the caller before, so that a replay is authorised too.
   * Denials: all of this package. Faults: `ERR_STORE_*`; the write must not run.
   */
  begin(facts: RequestFacts): Promise<Verdict<Begin, IdempotencyDenial>>
  /**
   * Ends a run by its answer; `classify` says which answers are kept. A failing store is tried three times,
   * then its fault is thrown and the run is lost once its lease ends.
   * Does not depend on the client's connection: call it, and wait for it, also when the client is gone.
   *
   * `undo` gives back what the run holds elsewhere, such as a reservation under its `effectId`. It is called before an
   * answer frees the key, and never otherwise. Where it throws, the run is lost instead and its error thrown. Nor is it
   * called in the last quarter of the lease or later, where the next run of the key might hold the same reservation by
   * then: the run is lost (`unknown`, or `late`).
   */
  complete(claim: Claim, answer: StoredAnswer, undo?: () => Promise<void>): Promise<Completion>
  /**
   * Frees the key, when the handler knows that nothing happened. False when the caller is late.
   * Never call it because something failed: a failed effect may have happened.
   */
  release(claim: Claim): Promise<boolean>
  /** Resolves when every run that this process has started is ended: wait for it before exit. */
  drained(): Promise<void>
}

/** Idempotent writes whose effect and record live in different places. Throws a `TypeError` for a wrong option. */
export function createIdempotency(options: IdempotencyOptions): Idempotency {
  const { storage } = knownOptions('createIdempotency', options, OPTIONS)
  if (typeof storage?.begin !== 'function' || typeof storage.end !== 'function') {
    throw new TypeError(
      'createIdempotency: storage must be an IdempotencyStorage, such as memoryStorage() or postgresStorage(db)',
    )
  }
  const settings = checkedOptions(options)
  const mode = modeOf(settings, storage)
  const now = (): number => settings.clock.now()
  const way: Way<Extract<Begun, { state: 'started' }>, Begin> = {
    attempt({ storageKey, effectId }) {
      const at = now()
      return storage.begin(storageKey, effectId, at + settings.leaseMs, at)
    },
    started: ({ storageKey, effectId }, { fence }, leaseUntil) => ({
      state: 'started',
      claim: { storageKey, fence, effectId, leaseUntil },
    }),
    replayed: ({ answer, expiresAt }) => ({ state: 'replay', answer, expiresAt }),
  }
  const expiry = (): EpochMs => now() + settings.retentionMs

  const undone = async (
    claim: Claim,
    freed: Outcome<Completion>,
    undo: () => Promise<void>,
  ): Promise<Completion> => {
    if (!(now() < claim.leaseUntil - settings.leaseMs / 4)) return end(mode, claim, LOST)
    try {
      await undo()
    } catch (error) {
      await end(mode, claim, LOST)
      throw error
    }
    return end(mode, claim, freed)
  }

  // `begin` and `complete` are not `async`: a promise more costs much where a host traces its requests
  // (`AsyncLocalStorage`).
  return {
    begin(facts) {
      try {
        const request = identify(facts, settings)
        return request.ok ? decide(mode, request.value, way) : Promise.resolve(request)
      } catch (error) {
        return Promise.reject(error)
      }
    },

    complete(claim, answer, undo) {
      try {
        const outcome = outcomeOf(answer, expiry(), settings)
        return undo && outcome.ending.state === 'free'
          ? undone(claim, outcome, undo)
          : end(mode, claim, outcome)
      } catch (error) {
        // An answer that is none. Those who wait in this process find out by themselves.
        mode.runs.endClaimed(claim)
        return Promise.reject(error)
      }
    },

    async release(claim) {
      return end(mode, claim, { ending: { state: 'free', expiresAt: expiry() }, won: true, late: false })
    },

    drained: () => mode.runs.drained(),
  }
}

const LATE = { state: 'late' } as const
const LOST: Outcome<Completion> = { ending: { state: 'lost' }, won: { state: 'unknown' }, late: LATE }

/** How an answer ends a run. */
function outcomeOf(answer: StoredAnswer, expiresAt: EpochMs, settings: Settings): Outcome<Completion> {
  const kind = classify(answer.status)
  if (kind === 'refused') {
    return { ending: { state: 'free', expiresAt }, won: { state: 'released' }, late: LATE }
  }
  if (kind === 'unknown') return LOST
  const { ending, kept } = keeping(answer, expiresAt, settings)
  return { ending, kept, won: { state: 'stored', expiresAt }, late: LATE }
}
