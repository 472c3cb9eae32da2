import { randomUUID } from 'node:crypto'
import {
  type Clock,
  type EpochMs,
  integerOption,
  keyDigest,
  knownOptions,
  type OptionNames,
  systemClock,
} from '@gatewright/kernel'
import type { AliasUsage, AliasUsageBatch, AliasUsageStorage } from './storage/port.ts'

/** Options of `createUsageLog`. */
export interface UsageLogOptions {
  readonly storage: AliasUsageStorage
  /** Default: the wall clock. */
  readonly clock?: Clock
  /** How long a use may wait before it is written, 100 to 600 000 ms. Default 5 000. It bounds what a kill loses. */
  readonly flushMs?: number
  /**
   * Most pairs of alias and principal that wait at once, 1 000 to 1 000 000, while the store is down. Default 20 000,
   * about 6 MB. Uses of further pairs are dropped and counted by `dropped`.
   */
  readonly maxPairs?: number
  /** Told when a write fails; the batch is kept and sent again after `flushMs`. Default: nothing. */
  readonly onFailure?: (error: unknown) => void
}

const OPTIONS: OptionNames<UsageLogOptions> = {
  storage: true,
  clock: true,
  flushMs: true,
  maxPairs: true,
  onFailure: true,
}

/** Gathers uses of old names and writes them in batches, off the path of requests. */
export interface UsageLog {
  /**
   * Notes one request: adds 1 for each old name it used, given by its row's id. Never waits and never throws. `principal` is who was proven
   * (a key or account id), undefined for nobody (`anonymous`); what is not 1 to 256 visible ASCII characters is noted
   * by its digest.
   */
  record(principal: string | undefined, aliases: readonly string[]): void
  /** Writes everything noted before the call. Faults of the store: what was not written stays for the next. */
  flush(): Promise<void>
  /** Uses dropped so far because `maxPairs` waited. */
  dropped(): number
}

/** Who used an old name when no credential was proven. */
export const ANONYMOUS = 'anonymous'

/** Rows of one batch: a store call of a few milliseconds. */
const BATCH_ROWS = 500

const visible = (text: string): boolean => /^[\x20-\x7e]{1,256}$/.test(text)

/**
 * Makes the log of one process. Counts are exact as long as the process ends with `flush`: a batch whose answer
 * got lost is sent again under its number, and the store adds it once. A process that is killed loses at most the
 * uses of its last `flushMs`, plus those noted while one write was under way; while the store is down, those
 * since it went down. The timer does not hold the process.
 */
export function createUsageLog(options: UsageLogOptions): UsageLog {
  const {
    storage,
    clock = systemClock,
    onFailure = () => undefined,
  } = knownOptions('createUsageLog', options, OPTIONS)
  if (typeof storage?.add !== 'function')
    throw new TypeError('createUsageLog: storage must be an AliasUsageStorage')
  const flushMs = integerOption('flushMs', options.flushMs ?? 5_000, 100, 600_000)
  const maxPairs = integerOption('maxPairs', options.maxPairs ?? 20_000, 1_000, 1_000_000)
  const writer = randomUUID()
  const waiting = new Map<string, AliasUsage>()
  let sequence = 0
  let unsent: AliasUsageBatch | undefined
  let tail: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let dropped = 0

  const note = (alias: string, principal: string, now: EpochMs): void => {
    const key = `${alias}\n${principal}`
    const held = waiting.get(key)
    if (!held && waiting.size >= maxPairs) {
      dropped++
      return
    }
    waiting.set(key, {
      ...{ alias, principal, count: (held?.count ?? 0) + 1 },
      firstSeen: Math.min(held?.firstSeen ?? now, now),
      lastSeen: Math.max(held?.lastSeen ?? now, now),
    })
  }

  const nextBatch = (): AliasUsageBatch => {
    const taken = [...waiting].slice(0, BATCH_ROWS)
    for (const [key] of taken) waiting.delete(key)
    return { writer, sequence: ++sequence, rows: taken.map(([, row]) => row) }
  }

  /** Sends what waits now; what comes meanwhile is for the next time, or busy hours would never let it end. */
  const send = async (): Promise<void> => {
    let batches = Math.ceil(waiting.size / BATCH_ROWS) + (unsent ? 1 : 0)
    for (; batches > 0; batches--) {
      unsent ??= nextBatch()
      await storage.add(unsent, clock.now())
      unsent = undefined
    }
  }

  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const sent = tail.then(send)
    tail = sent.catch(arm)
    return sent
  }

  function arm(): void {
    timer ??= setTimeout(() => flush().catch(onFailure), flushMs).unref()
  }

  return {
    record(principal = ANONYMOUS, aliases) {
      if (aliases.length === 0) return
      const name = visible(principal) ? principal : `digest:${keyDigest(principal)}`
      const now = clock.now()
      for (const id of new Set(aliases)) note(id, name, now)
      arm()
    },
    flush,
    dropped: () => dropped,
  }
}
