import { allow, Fault, orFault, type Verdict } from '@gatewright/kernel'
import { classify, decode, encode, isAnswer, keep, type StoredAnswer } from './answer.ts'
import { deny, type IdempotencyDenial } from './codes.ts'
import type { Recovered, Settings } from './options.ts'
import type { IdentifiedRequest } from './request.ts'
import { localRuns, waitFor, type KeptAnswer, type LocalRuns } from './runs.ts'
import type { Begun, IdempotencyStorage } from './storage/port.ts'

/** A first run's result, or an earlier answer. */
export type Decided<T> =
  | { readonly state: 'started'; readonly value: T }
  | ({ readonly state: 'replay' } & KeptAnswer)

/** What one attempt to start came to. */
export type Attempt<T> =
  | Exclude<Begun, { readonly state: 'started' }>
  | { readonly state: 'started'; readonly value: T }

/** What the loop needs of its mode. */
export interface Deciding {
  readonly settings: Settings
  readonly runs: LocalRuns
  readonly storage: IdempotencyStorage
  /** How many duplicates wait in this process. */
  waiters: number
  /** Recoveries under way in this process, by storage key, so that a burst of retries asks once. */
  readonly recovering: Map<string, Promise<boolean>>
}

/** What both modes start from. */
export function deciding(settings: Settings, storage: IdempotencyStorage): Deciding {
  return { settings, storage, runs: localRuns(), waiters: 0, recovering: new Map() }
}

const FIRST_POLL_MS = 50
const LONGEST_POLL_MS = 500

/**
 * Attempts to start until there is an answer: a running duplicate waits (for a run of this process until it
 * ends, else polling), a lost run goes to the recovery callback once.
 * Denials: `idempotency_key_reused`, `request_in_progress`, `outcome_unknown`.
 */
export async function decide<T>(
  mode: Deciding,
  request: IdentifiedRequest,
  attempt: () => Promise<Attempt<T>>,
): Promise<Verdict<Decided<T>, IdempotencyDenial>> {
  const { settings } = mode
  const giveUpAt = settings.timer.now() + settings.waitMs
  let pollMs = FIRST_POLL_MS
  let recovered = false
  for (;;) {
    const local = mode.runs.find(request.storageKey, settings.clock.now())
    const shared = local?.fingerprint === request.fingerprint
    const begun: Attempt<T> = shared ? { state: 'running' } : await attempt()
    switch (begun.state) {
      case 'started':
        return allow(begun)
      case 'done':
        return allow({ state: 'replay', answer: decode(begun.answer), expiresAt: begun.expiresAt })
      case 'reused':
        return reused()
      case 'lost':
        if (recovered || !(await recoverOnce(mode, request, begun.fence))) return unknown(request)
        recovered = true
        break
      case 'running': {
        const leftMs = giveUpAt - settings.timer.now()
        if (leftMs <= 0 || mode.waiters >= settings.maxWaiters) return inProgress()
        mode.waiters++
        const ended = shared ? mode.runs.ended(local) : undefined
        const waitMs = shared ? leftMs : Math.min(pollMs, leftMs)
        const kept = await waitFor(settings.timer, waitMs, ended).finally(() => mode.waiters--)
        if (kept) return allow({ state: 'replay', ...kept })
        pollMs = Math.min(2 * pollMs, LONGEST_POLL_MS)
      }
    }
  }
}

function recoverOnce(mode: Deciding, request: IdentifiedRequest, fence: number): Promise<boolean> {
  const { recovering } = mode
  const underway = recovering.get(request.storageKey)
  if (underway) return underway
  const recovery = recover(mode, request, fence).finally(() => recovering.delete(request.storageKey))
  recovering.set(request.storageKey, recovery)
  return recovery
}

/** Asks what became of a lost run and writes it down. False when nobody can say. */
async function recover(mode: Deciding, request: IdentifiedRequest, fence: number): Promise<boolean> {
  const { settings, storage } = mode
  const { account, operation } = request.facts
  const lost = { account, operation, fence, effectId: request.effectId }
  const outcome: Recovered = await orFault('recovery callback', () => settings.recover(lost))
  const now = settings.clock.now()
  const expiresAt = now + settings.retentionMs
  // Ending may fail because another caller ended the run first; the next attempt reads what they wrote.
  if (outcome.state === 'never_happened') {
    await storage.end(request.storageKey, fence, { state: 'free', expiresAt }, now)
    return true
  }
  if (outcome.state !== 'completed') return false
  if (!isAnswer(outcome.answer) || classify(outcome.answer.status) !== 'final') {
    throw new Fault('ERR_STORE_REPLY', 'the recovery callback gave an answer that is not final')
  }
  await storage.end(request.storageKey, fence, done(outcome.answer, expiresAt, settings), now)
  return true
}

/** The ending that keeps an answer. */
export function done(
  answer: StoredAnswer,
  expiresAt: number,
  settings: Settings,
): { readonly state: 'done'; readonly answer: string; readonly expiresAt: number } {
  return { state: 'done', answer: encode(keep(answer, settings)), expiresAt }
}

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
