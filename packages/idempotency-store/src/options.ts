import { type Clock, integerOption, type OptionTable, systemClock } from '@gatewright/kernel'
import { nodeTimer, type Timer } from './execution/timer.ts'
import type { FingerprintMode } from './request/fingerprint.ts'
import type { StoredResponse } from './response/stored-response.ts'

/** A run whose lease ended before its outcome was stored. */
export interface LostRun {
  readonly account: string
  readonly operation: string
  /** The fence of the lost run. */
  readonly fence: number
  /** The id of the run's effect: ask the payment processor or the ledger about it. */
  readonly effectId: string
}

/** What the `recover` callback found out about a lost run. */
export type RecoveryResult =
  /**
   * It took effect. `response` is the response that the first request should have got. Its status must be final (`classify`).
   * Give the `spends` that the run reserved: without them a replay is not checked against the limits of its session. A payment
   * that was declined with 402 took no effect: return `never_happened`.
   */
  | { readonly state: 'completed'; readonly response: StoredResponse }
  /**
   * It took no effect and can no longer take any. The write runs again with a larger fence and the same `effectId`.
   * Reservations of the lost run stay; the next run finds them under the same id.
   */
  | { readonly state: 'never_happened' }
  /** It is not known yet. The client gets `outcome_unknown`. */
  | { readonly state: 'unknown' }

/** The options of both `createIdempotency` and `createTransactionalIdempotency`. */
export interface IdempotencyBaseOptions {
  /** Default: the machine's clock. */
  readonly clock?: Clock
  /** Minimum length of a key in characters. Default 8, 1..255. */
  readonly minKeyLength?: number
  /** Maximum length of a key in characters. Default 255, minKeyLength..1024. */
  readonly maxKeyLength?: number
  /**
   * How long a run may take, in ms. Default 60 000, 1 000..86 400 000. It must be longer than the longest handler: a run
   * that outlives its lease is reported as `outcome_unknown`, and never run again automatically.
   */
  readonly leaseMs?: number
  /** How long a response is replayed, in ms. Default 86 400 000 (24 h), 60 000..31 536 000 000. */
  readonly retentionMs?: number
  /** How long a duplicate waits for the first response, in ms. Default 5 000, 0..60 000. */
  readonly waitMs?: number
  /**
   * How many duplicates wait at once in this process, shared fairly among accounts; further ones are denied immediately.
   * Default 200, 0..100 000. When all places are taken, the account with the most waiting duplicates gives up a place to an
   * account with fewer, so one account's duplicates never keep another account's first duplicate from waiting.
   */
  readonly maxWaiters?: number
  /** Header fields that are stored with a response. Default `content-type`, `content-language`, `location`, `link`. */
  readonly storedHeaders?: readonly string[]
  /** Maximum stored body, in bytes. Default 262 144, 0..16 777 216. A larger body is left out (`bodyOmitted`). */
  readonly maxResponseBytes?: number
  /**
   * Size of this process's cache of replayed responses, in bytes, which saves store calls on further replays. Default
   * 8 388 608, 0..1 073 741 824; 0 turns it off. A response of more than half the size is not cached.
   */
  readonly maxCachedBytes?: number
  /**
   * How payloads are compared. Default `raw`: byte by byte. Changing it changes every fingerprint, so retries of earlier
   * writes are denied as reused keys.
   */
  readonly fingerprint?: FingerprintMode
  /** Finds out the outcome of a lost run. Called at most once per request. Without it, the outcome stays unknown. */
  readonly recover?: (lost: LostRun) => Promise<RecoveryResult>
  /** How waiting requests measure time and sleep. Only tests set it. */
  readonly timer?: Timer
}

/** The names of the base options. */
export const BASE_OPTIONS: OptionTable<IdempotencyBaseOptions> = {
  clock: true,
  minKeyLength: true,
  maxKeyLength: true,
  leaseMs: true,
  retentionMs: true,
  waitMs: true,
  maxWaiters: true,
  storedHeaders: true,
  maxResponseBytes: true,
  maxCachedBytes: true,
  fingerprint: true,
  recover: true,
  timer: true,
}

/** The base options, checked and with their defaults. */
export interface Settings
  extends Required<Omit<IdempotencyBaseOptions, 'minKeyLength' | 'maxKeyLength' | 'storedHeaders'>> {
  readonly keyLength: { readonly min: number; readonly max: number }
  /** In lower case. */
  readonly storedHeaders: ReadonlySet<string>
}

const DAY_MS = 86_400_000
const DEFAULT_HEADERS = ['content-type', 'content-language', 'location', 'link']

function checkedHeaders(names: readonly string[]): ReadonlySet<string> {
  const set = new Set(names.map(name => name.toLowerCase()))
  if (set.has('set-cookie')) throw new TypeError('storedHeaders must not contain set-cookie')
  return set
}

function checkedFingerprint(value: unknown): FingerprintMode {
  if (value === 'raw' || value === 'canonical-json') return value
  throw new TypeError(`fingerprint must be raw or canonical-json, not ${typeof value} ${String(value)}`)
}

function checkedFunction<T>(name: string, value: T): T {
  if (typeof value === 'function') return value
  throw new TypeError(`${name} must be a function, not ${typeof value}`)
}

/** Checks the base options and fills in their defaults. Throws a `TypeError` that names the option and its bounds. */
export function checkedSettings(options: IdempotencyBaseOptions): Settings {
  const min = integerOption('minKeyLength', options.minKeyLength ?? 8, 1, 255)
  return {
    clock: options.clock ?? systemClock,
    keyLength: { min, max: integerOption('maxKeyLength', options.maxKeyLength ?? 255, min, 1024) },
    leaseMs: integerOption('leaseMs', options.leaseMs ?? 60_000, 1_000, DAY_MS),
    retentionMs: checkedRetention(options.retentionMs),
    waitMs: integerOption('waitMs', options.waitMs ?? 5_000, 0, 60_000),
    maxWaiters: integerOption('maxWaiters', options.maxWaiters ?? 200, 0, 100_000),
    storedHeaders: checkedHeaders(options.storedHeaders ?? DEFAULT_HEADERS),
    maxResponseBytes: integerOption('maxResponseBytes', options.maxResponseBytes ?? 262_144, 0, 16_777_216),
    maxCachedBytes: integerOption('maxCachedBytes', options.maxCachedBytes ?? 8_388_608, 0, 1_073_741_824),
    fingerprint: checkedFingerprint(options.fingerprint ?? 'raw'),
    recover: checkedFunction('recover', options.recover ?? (async () => ({ state: 'unknown' }))),
    timer: options.timer ?? nodeTimer,
  }
}

/** Checks how long a response is replayed, in ms. Throws a `TypeError` outside of its bounds. */
export function checkedRetention(retentionMs: number = DAY_MS): number {
  return integerOption('retentionMs', retentionMs, 60_000, 365 * DAY_MS)
}
