import { allow, type EpochMs, type Verdict } from '@gatewright/kernel'
import { decode } from './answer.ts'
import { recentAnswers, type RecentAnswer, type RecentAnswers } from './answers.ts'
import { deny, type IdempotencyDenial } from './codes.ts'
import type { Settings } from './options.ts'
import { recover } from './recover.ts'
import type { IdentifiedRequest } from './request.ts'
import { localRuns, type KeptAnswer, type LocalRun, type LocalRuns, type Settled } from './runs.ts'
import type { Begun, IdempotencyStorage } from './storage/port.ts'
import { waitFor } from './timer.ts'

/** An attempt that started. */
export interface Started {
  readonly state: 'started'
  /** What the claim's holder ends the run with. */
  readonly fence?: number
  /** Where the run has ended already: what for its duplicates. */
  readonly settled?: { readonly as: Settled }
}

/** What one attempt to start came to. */
export type Attempt<S extends Started> = Exclude<Begun, { readonly state: 'started' }> | S

/** How a mode starts runs, and what it tells its callers. */
export interface Way<S extends Started, T> {
  /** Tries to start: asks the store. */
  readonly attempt: (request: IdentifiedRequest) => Promise<Attempt<S>>
  /** `leaseUntil` is never later than the end of the lease in the store. */
  readonly started: (request: IdentifiedRequest, started: S, leaseUntil: EpochMs) => T
  readonly replayed: (kept: KeptAnswer) => T
}

/** What the loop needs of its mode. */
export interface Mode {
  readonly settings: Settings
  readonly storage: IdempotencyStorage
  readonly runs: LocalRuns
  readonly answers: RecentAnswers
  /** How many requests wait in this process. */
  waiters: number
}

/** What both modes start from. */
export function modeOf(settings: Settings, storage: IdempotencyStorage): Mode {
  return { settings, storage, runs: localRuns(), answers: recentAnswers(settings.maxHeldBytes), waiters: 0 }
}

/**
 * Decides about one request. An answer that this process holds is replayed. Else the first of equal requests in
 * this process leads: it asks the store, polls while another process runs the write, and asks the recovery
 * callback about a lost run, once. The others wait for what it comes to. All of them wait up to `waitMs` in all, and
 * at most `maxWaiters` at once.
 * Denials: `idempotency_key_reused`, `request_in_progress`, `outcome_unknown`.
 */
export function decide<S extends Started, T>(
  mode: Mode,
  request: IdentifiedRequest,
  way: Way<S, T>,
  giveUpAt: number = mode.settings.timer.now() + mode.settings.waitMs,
): Promise<Verdict<T, IdempotencyDenial>> {
  const { runs, answers, settings } = mode
  const { storageKey: key, effectId: fingerprint } = request
  const now = settings.clock.now()
  const held = answers.find(key, now)
  if (held) {
    return Promise.resolve(held.fingerprint === fingerprint ? allow(way.replayed(keptIn(held))) : reused())
  }
  const leader = runs.find(key, now)
  if (leader?.fingerprint === fingerprint) return follow(mode, request, leader, giveUpAt, way)
  const leaseUntil = now + settings.leaseMs
  const run: LocalRun = { key, fingerprint, leaseUntil, fence: undefined, waited: undefined }
  runs.open(run, now)
  return lead(mode, request, run, giveUpAt, way)
}

/** Waits for what the leader comes to, and decides anew where that says nothing about this request. */
async function follow<S extends Started, T>(
  mode: Mode,
  request: IdentifiedRequest,
  leader: LocalRun,
  giveUpAt: number,
  way: Way<S, T>,
): Promise<Verdict<T, IdempotencyDenial>> {
  const waited = await wait(mode, giveUpAt, Infinity, mode.runs.ended(leader))
  if (!waited) return inProgress()
  const { settled } = waited
  if (!settled) return decide(mode, request, way, giveUpAt)
  return settled.ok ? allow(way.replayed(settled.value)) : settled
}

/** Leads, and tells those who wait what it came to. */
async function lead<S extends Started, T>(
  mode: Mode,
  request: IdentifiedRequest,
  run: LocalRun,
  giveUpAt: number,
  way: Way<S, T>,
): Promise<Verdict<T, IdempotencyDenial>> {
  const { runs } = mode
  try {
    let begun = await way.attempt(request)
    if (begun.state === 'running' || begun.state === 'lost') {
      begun = await poll(mode, request, giveUpAt, begun, way)
    }
    if (begun.state === 'started') {
      run.fence = begun.fence
      if (begun.settled) runs.end(run, begun.settled.as)
      return allow(way.started(request, begun, run.leaseUntil))
    }
    if (begun.state === 'running') {
      // Those who wait may have more time left than this one.
      runs.end(run)
      return inProgress()
    }
    if (begun.state === 'done') {
      const held = { fingerprint: run.fingerprint, text: begun.answer, expiresAt: begun.expiresAt }
      mode.answers.add(run.key, held)
      runs.end(run, allow(keptIn(held)))
      return allow(way.replayed(keptIn(held)))
    }
    const denial = begun.state === 'reused' ? reused() : unknown(request)
    runs.end(run, denial)
    return denial
  } catch (error) {
    runs.fail(run, error)
    throw error
  }
}

const FIRST_POLL_MS = 50
const LONGEST_POLL_MS = 500

/** Attempts again until there is something to say, or the time is over; `lost`: recovery could not tell. */
async function poll<S extends Started>(
  mode: Mode,
  request: IdentifiedRequest,
  giveUpAt: number,
  first: Attempt<S>,
  { attempt }: Way<S, unknown>,
): Promise<Attempt<S>> {
  let pollMs = FIRST_POLL_MS
  let recovered = false
  for (let begun = first; ; begun = await attempt(request)) {
    if (begun.state === 'lost' && !recovered) {
      recovered = await recover(mode, request, begun.fence)
      if (!recovered) return begun
    } else if (begun.state === 'running') {
      if (!(await wait(mode, giveUpAt, pollMs))) return begun
      pollMs = Math.min(2 * pollMs, LONGEST_POLL_MS)
    } else return begun
  }
}

/** Waits at most `atMostMs` for a run's end. Undefined when there is no time or no room to wait. */
async function wait(
  mode: Mode,
  giveUpAt: number,
  atMostMs: number,
  ended?: Promise<Settled>,
): Promise<{ readonly settled: Settled } | undefined> {
  const { timer, maxWaiters } = mode.settings
  const leftMs = giveUpAt - timer.now()
  if (leftMs <= 0 || mode.waiters >= maxWaiters) return undefined
  mode.waiters++
  try {
    return { settled: await waitFor(timer, Math.min(leftMs, atMostMs), ended) }
  } finally {
    mode.waiters--
  }
}

/** Read anew each time: nobody can change the answer of somebody else. */
const keptIn = ({ text, expiresAt }: RecentAnswer): KeptAnswer => ({
  answer: decode(text),
  expiresAt,
})

const reused = () =>
  deny('idempotency_key_reused', 'This Idempotency-Key was already used with another payload.', {
    field: 'idempotency-key',
  })

const inProgress = () =>
  deny('request_in_progress', 'The first request with this Idempotency-Key is still running.', {
    retryAfterSeconds: 1,
  })

const unknown = ({ effectId }: IdentifiedRequest) =>
  deny('outcome_unknown', 'An earlier run of this request was lost and its outcome is not known yet.', {
    details: { operationId: effectId },
    retryAfterSeconds: 5,
  })
