import { keyDigest, type Clock, type EpochMs } from '@gatewright/kernel'
import { checkOptions, setBackgroundTimer, systemClock } from '@gatewright/kernel/internal'
import type { AliasUsage, AliasUsageBatch, AliasUsageStorage } from './storage/port.ts'

/** Options of `createUsageLog`. */
export interface UsageLogOptions {
  readonly storage: AliasUsageStorage
  /** Default: the machine's clock. */
  readonly clock?: Clock
  /**
   * How long uses are collected before they are written, 100 to 600 000 ms, default 5000. A killed process loses what it has
   * collected.
   */
  readonly flushMs?: number
  /**
   * Maximum number of pairs of alias and caller in memory, 1000 to 1 000 000, default 20 000, about 6 MB. At half of it they
   * are written at once, so it is reached only while the store is down or slow; uses of further pairs are dropped, and `dropped`
   * counts them.
   */
  readonly maxPairs?: number
  /** Called when a write fails. The batch is kept and sent again after `flushMs`. Default: does nothing. */
  readonly onFailure?: (error: unknown) => void
}

/** Collects uses of old names in memory and writes them in batches. */
export interface UsageLog {
  /**
   * Records one request: adds 1 for each old name that it used, given by its row's id. Returns immediately and never throws.
   * `caller` is the authenticated key or account id; undefined is recorded as `anonymous`. An id that is not 1 to 256
   * printable ASCII characters is recorded by its digest.
   */
  record(caller: string | undefined, aliases: readonly string[]): void
  /** Writes everything recorded before the call. Faults: those of the storage; what was not written stays in memory. */
  flush(): Promise<void>
  /** How many uses were dropped because of `maxPairs`. */
  dropped(): number
}

/** The caller of requests without an authenticated credential. */
const ANONYMOUS = 'anonymous'

/** Rows per batch. Writing a batch takes a few milliseconds. */
const BATCH_ROWS = 500

const isPrintable = (text: string): boolean => /^[\x20-\x7e]{1,256}$/.test(text)

/**
 * Makes the usage log of one process. Counts are exact if the process ends with `flush`: a batch whose reply got lost is sent
 * again with its number, and the store adds it once. A killed process loses at most the uses of its last `flushMs` and those
 * recorded during one write; if the store is down, it loses all uses since the store went down. The timer does not keep the
 * process alive. On Workers, a timer ends with the request that started it: pass `flush()` to `waitUntil` there.
 */
export function createUsageLog(options: UsageLogOptions): UsageLog {
  const { storage, clock, flushMs, maxPairs, onFailure } = checkOptions('createUsageLog', options, {
    storage: true,
    clock: { default: systemClock },
    flushMs: { min: 100, max: 600_000, default: 5000 },
    maxPairs: { min: 1000, max: 1_000_000, default: 20_000 },
    onFailure: { default: () => undefined },
  })
  if (typeof storage?.add !== 'function')
    throw new TypeError(
      'createUsageLog: storage must be an AliasUsageStorage, such as memoryAliasUsage() or postgresAliasUsage(db)',
    )
  // Generated for the first batch, because Workers allow no random values while a module is loaded.
  let writer: string | undefined
  const unsent = new Map<string, AliasUsage>()
  let sequence = 0
  let currentBatch: AliasUsageBatch | undefined
  let tail: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let dropped = 0
  // Makes the log write once when it is half full, and not at each use while the store is down.
  let isHalfFull = false

  const addUse = (alias: string, caller: string, now: EpochMs): void => {
    const key = `${alias}\n${caller}`
    const entry = unsent.get(key)
    if (!entry && unsent.size >= maxPairs) {
      dropped++
      return
    }
    unsent.set(key, {
      alias,
      caller,
      count: (entry?.count ?? 0) + 1,
      firstSeen: Math.min(entry?.firstSeen ?? now, now),
      lastSeen: Math.max(entry?.lastSeen ?? now, now),
    })
  }

  const nextBatch = (): AliasUsageBatch => {
    writer ??= crypto.randomUUID()
    const batchEntries = [...unsent].slice(0, BATCH_ROWS)
    for (const [key] of batchEntries) unsent.delete(key)
    return { writer, sequence: ++sequence, rows: batchEntries.map(([, row]) => row) }
  }

  /**
   * Sends the uses that were recorded before the call. Uses recorded meanwhile wait for the next call, so that this one ends
   * under constant load.
   */
  const send = async (): Promise<void> => {
    let batches = Math.ceil(unsent.size / BATCH_ROWS) + (currentBatch ? 1 : 0)
    for (; batches > 0; batches--) {
      currentBatch ??= nextBatch()
      await storage.add(currentBatch, clock.now())
      currentBatch = undefined
    }
  }

  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const sent = tail.then(send)
    tail = sent.catch(startTimer)
    return sent
  }

  function startTimer(): void {
    timer ??= setBackgroundTimer(() => void flush().catch(onFailure), flushMs)
  }

  return {
    record(caller = ANONYMOUS, aliases) {
      if (aliases.length === 0) return
      const name = isPrintable(caller) ? caller : `digest:${keyDigest(caller)}`
      const now = clock.now()
      for (const id of new Set(aliases)) addUse(id, name, now)
      startTimer()
      if (unsent.size < maxPairs / 2) isHalfFull = false
      else if (!isHalfFull) {
        isHalfFull = true
        flush().catch(onFailure)
      }
    },
    flush,
    dropped: () => dropped,
  }
}
