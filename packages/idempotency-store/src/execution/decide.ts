import { allow, type Verdict, type EpochMs } from '@gatewright/kernel'
import { docsLink } from '@gatewright/kernel/internal'
import { deny, type IdempotencyDenial } from '../codes.ts'
import type { IdentifiedRequest } from '../request/identify.ts'
import { decodeResponse } from '../response/encoding.ts'
import type { CachedResponse } from '../response/replay-cache.ts'
import type { Replay } from '../response/stored-response.ts'
import type { BeginResult } from '../storage/port.ts'
import type { Coordinator } from './coordinator.ts'
import type { LocalRun, SharedOutcome } from './local-runs.ts'
import { recover } from './recover.ts'
import { waitInPlace, type WaitingRequest } from './wait-in-place.ts'

/** A run that an attempt has started. */
export interface StartedRun {
  readonly state: 'started'
  /** The fencing token with which the run is ended. */
  readonly fence?: number
  /** Set if the run has already ended when the attempt returns: the outcome for the requests that wait. */
  readonly ended?: { readonly outcome: SharedOutcome }
}

/** The result of one attempt to start a run. `no_turn`: too much work of the account runs, and nothing was started. */
export type AttemptResult<Run extends StartedRun> =
  | Exclude<BeginResult, { readonly state: 'started' }>
  | { readonly state: 'no_turn' }
  | Run

/** What differs between a run in two calls (`begin`, `complete`) and a run in one transaction. */
export interface ExecutionStrategy<Run extends StartedRun, Result> {
  /** Asks the store to start a run. In a transaction, also runs the handler and ends the run. May wait until `giveUpAt` before. */
  readonly attempt: (request: IdentifiedRequest, giveUpAt: number) => Promise<AttemptResult<Run>>
  /** Makes the result of a started run. `leaseUntil` is never later than the end of the lease in the store. */
  readonly started: (request: IdentifiedRequest, run: Run, leaseUntil: EpochMs) => Result
  /** Makes the result of a replay. */
  readonly replayed: (replay: Replay, request: IdentifiedRequest) => Result
}

/** One request that is decided, and until when it may wait. */
interface Decision<Run extends StartedRun, Result> extends WaitingRequest {
  readonly coordinator: Coordinator
  readonly strategy: ExecutionStrategy<Run, Result>
}

/**
 * Decides whether a request starts a run, gets a replay, or is denied. A cached response is replayed immediately.
 * Otherwise the first of the equal requests in this process is the leader: it asks the store, polls while another process runs
 * the write, and calls `recover` once if that run is lost. The other equal requests wait for the leader's outcome. Each request
 * waits at most `waitMs` in total, and at most `maxWaiters` requests wait at the same time, shared fairly among accounts
 * (`WaitingPlacePool`).
 * Denials: `idempotency_key_reused`, `request_in_progress`, `outcome_unknown`.
 */
// Not `async`, to save a promise per request (npm run bench -- idempotency-store).
export function decide<Run extends StartedRun, Result>(
  coordinator: Coordinator,
  request: IdentifiedRequest,
  strategy: ExecutionStrategy<Run, Result>,
  giveUpAt: number = coordinator.settings.timer.now() + coordinator.settings.waitMs,
): Promise<Verdict<Result, IdempotencyDenial>> {
  const { runs, cache, settings } = coordinator
  // The record stores the `effectId` as fingerprint: both depend on the key and the payload.
  const { storageKey: key, effectId: fingerprint } = request
  const now = settings.clock.now()
  const cached = cache.find(key, now)
  if (cached) {
    const isEqual = cached.fingerprint === fingerprint
    return Promise.resolve(isEqual ? allow(strategy.replayed(toReplay(cached), request)) : keyReused())
  }
  const leader = runs.find(key, now)
  const decision: Decision<Run, Result> = { coordinator, request, strategy, giveUpAt }
  if (leader?.fingerprint === fingerprint) return follow(decision, leader)
  const leaseUntil = now + settings.leaseMs
  const run: LocalRun = { key, fingerprint, leaseUntil, fence: undefined, outcome: undefined }
  runs.open(run, now)
  return lead(decision, run)
}

/** Waits for the outcome of the leader. If the leader ends without an outcome, decides about this request again. */
async function follow<Run extends StartedRun, Result>(
  decision: Decision<Run, Result>,
  leader: LocalRun,
): Promise<Verdict<Result, IdempotencyDenial>> {
  const { coordinator, request, strategy, giveUpAt } = decision
  const waited = await waitInPlace(coordinator, decision, Infinity, () => coordinator.runs.waitForEnd(leader))
  if (!waited) return inProgress()
  const { ended: outcome } = waited
  if (!outcome) return decide(coordinator, request, strategy, giveUpAt)
  return outcome.ok ? allow(strategy.replayed(outcome.value, request)) : outcome
}

/** Asks the store as the leader, and gives the outcome to the requests that wait for it. */
async function lead<Run extends StartedRun, Result>(
  decision: Decision<Run, Result>,
  run: LocalRun,
): Promise<Verdict<Result, IdempotencyDenial>> {
  const { coordinator, request, strategy, giveUpAt } = decision
  const { runs, cache } = coordinator
  try {
    let attempt = await strategy.attempt(request, giveUpAt)
    if (attempt.state === 'running' || attempt.state === 'lost') {
      attempt = await poll(decision, attempt)
    }
    switch (attempt.state) {
      case 'started':
        run.fence = attempt.fence
        if (attempt.ended) runs.end(run, attempt.ended.outcome)
        return allow(strategy.started(request, attempt, run.leaseUntil))
      case 'running':
        // The requests that wait get no outcome: they may have more time left than this one, and then ask the store themselves.
        runs.end(run)
        return inProgress()
      case 'no_turn':
        runs.end(run)
        return accountBusy()
      case 'done': {
        const { response: text, expiresAt } = attempt
        const cached = { fingerprint: run.fingerprint, text, expiresAt }
        cache.add(run.key, cached)
        runs.end(run, allow(toReplay(cached)))
        return allow(strategy.replayed(toReplay(cached), request))
      }
      case 'lost':
      case 'reused': {
        const denial = attempt.state === 'reused' ? keyReused() : outcomeUnknown(request)
        runs.end(run, denial)
        return denial
      }
    }
  } catch (error) {
    runs.fail(run, error)
    throw error
  }
}

const FIRST_POLL_MS = 50
const LONGEST_POLL_MS = 500

/**
 * Repeats the attempt until the run of another process has ended. Returns `running` if the request has no time left, and `lost`
 * if `recover` does not know the outcome.
 */
async function poll<Run extends StartedRun>(
  decision: Decision<Run, unknown>,
  first: AttemptResult<Run>,
): Promise<AttemptResult<Run>> {
  const { coordinator, request, strategy, giveUpAt } = decision
  let pollMs = FIRST_POLL_MS
  let recovered = false
  for (let latest = first; ; latest = await strategy.attempt(request, giveUpAt)) {
    if (latest.state === 'lost' && !recovered) {
      recovered = await recover(coordinator, request, latest.fence)
      if (!recovered) return latest
    } else if (latest.state === 'running') {
      if (!(await waitInPlace(coordinator, decision, pollMs))) return latest
      pollMs = Math.min(2 * pollMs, LONGEST_POLL_MS)
    } else return latest
  }
}

/** Decodes a cached response again for each request, so that no caller can change the response of another. */
const toReplay = ({ text, expiresAt }: CachedResponse): Replay => ({
  response: decodeResponse(text),
  expiresAt,
})

const keyReused = () =>
  deny('idempotency_key_reused', 'This Idempotency-Key was already used with another payload.', {
    field: 'idempotency-key',
  })

const inProgress = () =>
  deny('request_in_progress', 'The first request with this Idempotency-Key is still running.', {
    retryAfterSeconds: 1,
  })

const accountBusy = () =>
  deny('request_in_progress', 'Other writes of this account are still running. Nothing was started.', {
    retryAfterSeconds: 1,
  })

const outcomeUnknown = ({ effectId }: IdentifiedRequest) =>
  deny(
    'outcome_unknown',
    'An earlier run of this request was lost, and whether it took effect is not known. Send it again under the same Idempotency-Key, never under a new one. The operator of this API decides the run with the id in operationId.',
    {
      details: { operationId: effectId, docs: docsLink('idempotency.md#a-run-of-unknown-outcome') },
      retryAfterSeconds: 5,
    },
  )
