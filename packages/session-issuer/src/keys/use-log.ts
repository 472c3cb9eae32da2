import type { EpochMs } from '@gatewright/kernel'
import type { CheckedOptions } from '../options.ts'
import type { KeyUse } from '../storage/port.ts'

/** Gathers uses of keys and writes them in batches. */
export interface UseLog {
  /** Notes a use. True when it should be written at once, given when the store last heard of the key. */
  record(id: string, at: EpochMs, storedAt: EpochMs, rehash?: KeyUse['rehash']): boolean
  flush(): Promise<void>
}

/**
 * A use is written at once when the store has not heard of the key for this long. The cap on live keys spares
 * keys used in the last 24 h, and must not miss one because its use still waits in a batch.
 */
const SILENCE_MS = 12 * 3_600_000
const BATCH = 100

/** Makes the log. A batch that cannot be written is kept for the next; the timer does not hold the process. */
export function createUseLog({ keys, lastUsedFlushMs }: CheckedOptions): UseLog {
  const waiting = new Map<string, KeyUse>()
  const written = new Map<string, EpochMs>()
  let timer: NodeJS.Timeout | undefined

  const flush = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    while (waiting.size > 0) {
      const batch = [...waiting.values()].slice(0, BATCH)
      for (const { id } of batch) waiting.delete(id)
      try {
        await keys.touch(batch)
      } catch (error) {
        for (const use of batch) if (!waiting.has(use.id)) waiting.set(use.id, use)
        throw error
      }
      for (const { id, at } of batch) written.set(id, at)
    }
    if (written.size > 10_000) written.clear()
  }

  return {
    record(id, at, storedAt, rehash) {
      waiting.set(id, rehash ? { id, at, rehash } : { id, at })
      if (at - storedAt >= SILENCE_MS && at - (written.get(id) ?? 0) >= SILENCE_MS) return true
      timer ??= setTimeout(() => flush().catch(() => undefined), lastUsedFlushMs).unref()
      return false
    },
    flush,
  }
}
