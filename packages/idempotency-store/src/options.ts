import { checkOptions, integerOption, systemClock, type OptionTable } from '@gatewright/kernel/internal'
import type { Clock } from '@gatewright/kernel'
import { nodeTimer, type Timer } from './execution/timer.ts'
import type { FingerprintMode } from './request/fingerprint.ts'
import { checkEncryption, type ResponseEncryption } from './response/encryption.ts'
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
  /** Minimum length of a key in characters, 1 to 255, default 8. */
  readonly minKeyLength?: number
  /** Maximum length of a key in characters, `minKeyLength` to 1024, default 255. */
  readonly maxKeyLength?: number
  /**
   * How long a run may take, in ms, 1000 to 86 400 000, default 60 000. It must be longer than the longest handler, unless `maxRunMs` of
   * `createIdempotency` is set: a run that outlives its lease is reported as `outcome_unknown`, and never run again automatically.
   */
  readonly leaseMs?: number
  /** How long a response is replayed, in ms, 60 000 to 31 536 000 000, default 86 400 000 (24 h). */
  readonly retentionMs?: number
  /** How long a duplicate waits for the first response, in ms, 0 to 60 000, default 5000. */
  readonly waitMs?: number
  /**
   * How many duplicates wait at once in this process, shared fairly among accounts; further ones are denied immediately.
   * 0 to 100 000, default 200. When all places are taken, the account with the most waiting duplicates gives up a place to an
   * account with fewer, so one account's duplicates never keep another account's first duplicate from waiting.
   */
  readonly maxWaiters?: number
  /** Header fields that are stored with a response. Default `content-type`, `content-language`, `location`, `link`. */
  readonly storedHeaders?: readonly string[]
  /** Maximum stored body, in bytes, 0 to 16 777 216, default 262 144. A larger body is left out (`bodyOmitted`). */
  readonly maxResponseBytes?: number
  /**
   * Size of this process's cache of replayed responses, in bytes, which saves store calls on further replays, 0 to
   * 1 073 741 824, default 8 388 608; 0 turns it off. A response of more than half the size is not cached.
   */
  readonly maxCachedBytes?: number
  /**
   * How payloads are compared, and what `effectId` is made of. Default `canonical-json`: as JSON values, so that a client that writes
   * the members of its body in another order repeats the same write. `raw`: byte by byte. Changing it changes every fingerprint and
   * `effectId`: retries of earlier writes are denied as reused keys, and after their records are gone they are new writes.
   */
  readonly fingerprint?: FingerprintMode
  /**
   * Encrypts stored responses, with AES-256-GCM and the newest of its keys: `{ keys: [{ id, key }] }`. Responses that were stored before are
   * still read. Default: they are stored as they are. Labels, decisions and ids are not encrypted.
   */
  readonly encryption?: ResponseEncryption | undefined
  /** Finds out the outcome of a lost run. Called at most once per request. Without it, the outcome stays unknown. */
  readonly recover?: (lost: LostRun) => Promise<RecoveryResult>
  /** How waiting requests measure time and sleep. Only tests set it. */
  readonly timer?: Timer
}

/** All base options have a default in the table but `maxKeyLength`, whose bounds depend on `minKeyLength`. */
type CheckedBaseOptions = Required<Omit<IdempotencyBaseOptions, 'maxKeyLength' | 'encryption'>> &
  Pick<IdempotencyBaseOptions, 'maxKeyLength' | 'encryption'>

/** The base options, checked and with their defaults. */
export interface Settings
  extends Required<
    Omit<IdempotencyBaseOptions, 'minKeyLength' | 'maxKeyLength' | 'storedHeaders' | 'encryption'>
  > {
  readonly encryption: ResponseEncryption | undefined
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

/** What the option `retentionMs` must be. */
export const RETENTION: { readonly min: number; readonly max: number; readonly default: number } = {
  min: 60_000,
  max: 365 * DAY_MS,
  default: DAY_MS,
}

const BASE_OPTIONS: OptionTable<IdempotencyBaseOptions> = {
  clock: { default: systemClock },
  minKeyLength: { min: 1, max: 255, default: 8 },
  maxKeyLength: true,
  leaseMs: { min: 1000, max: DAY_MS, default: 60_000 },
  retentionMs: RETENTION,
  waitMs: { min: 0, max: 60_000, default: 5000 },
  maxWaiters: { min: 0, max: 100_000, default: 200 },
  storedHeaders: { default: DEFAULT_HEADERS },
  maxResponseBytes: { min: 0, max: 16_777_216, default: 262_144 },
  maxCachedBytes: { min: 0, max: 1_073_741_824, default: 8_388_608 },
  fingerprint: { is: ['raw', 'canonical-json'], default: 'canonical-json' },
  encryption: true,
  recover: { default: async () => ({ state: 'unknown' }) },
  timer: { default: nodeTimer },
}

/**
 * Checks the options of the function `where` and fills in the defaults of the base options. `own` declares its other options. Throws
 * a `TypeError` that names the option, what was expected and what came.
 */
export function checkedSettings<Options extends IdempotencyBaseOptions>(
  where: string,
  options: Options,
  own: OptionTable<Omit<Options, keyof IdempotencyBaseOptions>>,
): Settings {
  const table = { ...BASE_OPTIONS, ...own } as OptionTable<Readonly<Record<string, unknown>>>
  const checked = checkOptions<object, object>(where, options, table) as CheckedBaseOptions
  const { minKeyLength: min, maxKeyLength = 255 } = checked
  const max = integerOption(`${where}: maxKeyLength`, maxKeyLength, min, 1024)
  const { encryption } = checked
  checkEncryption(where, encryption)
  const storedHeaders = checkedHeaders(checked.storedHeaders)
  return { ...checked, encryption, keyLength: { min, max }, storedHeaders }
}
