import { setBackgroundTimer } from '@gatewright/kernel/internal'
import type { EpochMs } from '@gatewright/kernel'
import { LAST_USED_FLUSH_MS, ROOT_KEY_IDLE_MS } from '../limits.ts'
import type { CheckedOptions } from '../options.ts'
import type { KeyUse } from '../storage/port.ts'

/** Collects uses of keys and writes them in batches. */
interface UseLog {
  /**
   * Records a use. Returns true if the use should be written immediately, because `storedAt`, the last use in the store, is
   * old.
   */
  record(id: string, at: EpochMs, storedAt: EpochMs, rehash?: KeyUse['rehash']): boolean
  flush(): Promise<void>
}

/** Keys used within `ROOT_KEY_IDLE_MS` are not retired, so a use must be stored well within that time. */
const MAX_SILENCE_MS = ROOT_KEY_IDLE_MS / 2

/** Uses per write. */
const BATCH = 100

/**
 * Makes the log. A batch that cannot be written is kept for the next write; the timer does not keep the process
 * running.
 */
export function createUseLog({ keys }: CheckedOptions): UseLog {
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
      if (at - storedAt >= MAX_SILENCE_MS && at - (written.get(id) ?? 0) >= MAX_SILENCE_MS) return true
      timer ??= setBackgroundTimer(() => void flush().catch(() => undefined), LAST_USED_FLUSH_MS)
      return false
    },
    flush,
  }
}
