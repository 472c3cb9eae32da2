import { type Clock, integerOption, type OptionNames, systemClock } from '@gatewright/kernel'
import type { KeepOptions } from './answer.ts'
import type { FingerprintMode } from './fingerprint.ts'
import type { KeyLength } from './key.ts'
import type { LostRun, Recovered } from './recover.ts'
import { nodeTimer, type Timer } from './timer.ts'

/** Options that both modes share. */
export interface CommonOptions {
  readonly clock?: Clock
  /** Shortest key in characters. Default 8, 1..255. */
  readonly minKeyLength?: number
  /** Longest key in characters. Default 255, minKeyLength..1024. */
  readonly maxKeyLength?: number
  /**
   * How long a run is trusted to be alive, in ms. Default 60 000, 1 000..86 400 000. Choose it longer than the
   * longest handler: a run that outlives it is reported as `outcome_unknown`, never run again by itself.
   */
  readonly leaseMs?: number
  /** How long an answer is replayed, in ms. Default 86 400 000 (24 h), 60 000..31 536 000 000. */
  readonly retentionMs?: number
  /** Longest a duplicate waits for the first answer, in ms. Default 5 000, 0..60 000. */
  readonly waitMs?: number
  /** Most duplicates that wait at once in this process; one more is refused at once. Default 200, 0..100 000. */
  readonly maxWaiters?: number
  /** Header fields kept with an answer. Default `content-type`, `content-language`, `location`, `link`. */
  readonly storedHeaders?: readonly string[]
  /** Largest answer body kept, in bytes. Default 262 144, 0..16 777 216. Of a larger one a tombstone is kept. */
  readonly maxAnswerBytes?: number
  /**
   * How much of the answers that it replays this process holds itself, in bytes, so that further replays do not
   * ask the store. Default 8 388 608, 0..1 073 741 824; 0 holds none. An answer of more than half of it is not held.
   */
  readonly maxHeldBytes?: number
  /**
   * What counts as the same payload. Default `raw`: the same bytes. A change is a change of every fingerprint:
   * retries of writes from before it are refused as reused.
   */
  readonly fingerprint?: FingerprintMode
  /** Says what became of a lost run. Asked at most once per request. Without it every one is unknown. */
  readonly recover?: (lost: LostRun) => Promise<Recovered>
  /** How waiters wait; for tests. */
  readonly timer?: Timer
}

/** Their names. */
export const COMMON_OPTIONS: OptionNames<CommonOptions> = {
  clock: true,
  minKeyLength: true,
  maxKeyLength: true,
  leaseMs: true,
  retentionMs: true,
  waitMs: true,
  maxWaiters: true,
  storedHeaders: true,
  maxAnswerBytes: true,
  maxHeldBytes: true,
  fingerprint: true,
  recover: true,
  timer: true,
}

/** Checked options. */
export interface Settings extends KeepOptions {
  readonly clock: Clock
  readonly keyLength: KeyLength
  readonly leaseMs: number
  readonly retentionMs: number
  readonly waitMs: number
  readonly maxWaiters: number
  readonly maxHeldBytes: number
  readonly fingerprint: FingerprintMode
  readonly recover: (lost: LostRun) => Promise<Recovered>
  readonly timer: Timer
}

const DAY_MS = 86_400_000
const HEADERS = ['content-type', 'content-language', 'location', 'link']

function headerNames(names: readonly string[]): ReadonlySet<string> {
  const set = new Set(names.map(name => name.toLowerCase()))
  if (set.has('set-cookie')) throw new TypeError('storedHeaders must not name set-cookie')
  return set
}

function mode(value: unknown): FingerprintMode {
  if (value === 'raw' || value === 'canonical-json') return value
  throw new TypeError(`fingerprint must be raw or canonical-json, not ${typeof value} ${String(value)}`)
}

function callback<T>(name: string, value: T): T {
  if (typeof value === 'function') return value
  throw new TypeError(`${name} must be a function, not ${typeof value}`)
}

/** Checks options once. Throws a `TypeError` that names the option, its bounds and what was given. */
export function checkedOptions(options: CommonOptions): Settings {
  const min = integerOption('minKeyLength', options.minKeyLength ?? 8, 1, 255)
  return {
    clock: options.clock ?? systemClock,
    keyLength: { min, max: integerOption('maxKeyLength', options.maxKeyLength ?? 255, min, 1024) },
    leaseMs: integerOption('leaseMs', options.leaseMs ?? 60_000, 1_000, DAY_MS),
    retentionMs: integerOption('retentionMs', options.retentionMs ?? DAY_MS, 60_000, 365 * DAY_MS),
    waitMs: integerOption('waitMs', options.waitMs ?? 5_000, 0, 60_000),
    maxWaiters: integerOption('maxWaiters', options.maxWaiters ?? 200, 0, 100_000),
    storedHeaders: headerNames(options.storedHeaders ?? HEADERS),
    maxAnswerBytes: integerOption('maxAnswerBytes', options.maxAnswerBytes ?? 262_144, 0, 16_777_216),
    maxHeldBytes: integerOption('maxHeldBytes', options.maxHeldBytes ?? 8_388_608, 0, 1_073_741_824),
    fingerprint: mode(options.fingerprint ?? 'raw'),
    recover: callback('recover', options.recover ?? (async () => ({ state: 'unknown' }))),
    timer: options.timer ?? nodeTimer,
  }
}
