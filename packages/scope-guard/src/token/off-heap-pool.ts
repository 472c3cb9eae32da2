import { allocate, writeAscii } from '#platform/ascii'

/** The place of a text outside the JavaScript heap. */
export interface OffHeapText {
  readonly bytes: Uint8Array
  readonly start: number
}

/** Stores ASCII texts outside the JavaScript heap. */
interface OffHeapPool {
  store(text: string): OffHeapText
  /** Overwrites a text of the given length and frees its place. */
  erase(text: OffHeapText, length: number): void
}

/** Large enough for the tokens of most issuers. A longer text gets its own buffer. */
export const SLOT_BYTES = 1024

const SLOTS_PER_BLOCK = 64

/**
 * Makes a pool. Texts of up to `SLOT_BYTES` share blocks of memory, because a separate buffer per text would cost as much as
 * the rest of a cache entry. Blocks are reused and never freed, so the pool stays as large as its largest content so far.
 */
export function createOffHeapPool(): OffHeapPool {
  const free: OffHeapText[] = []
  const addBlock = (): void => {
    const bytes = allocate(SLOTS_PER_BLOCK * SLOT_BYTES)
    for (let slot = SLOTS_PER_BLOCK - 1; slot >= 0; slot--) free.push({ bytes, start: slot * SLOT_BYTES })
  }
  const takeSlot = (): OffHeapText => {
    if (free.length === 0) addBlock()
    return free.pop() as OffHeapText
  }
  return {
    store(text) {
      const place = text.length <= SLOT_BYTES ? takeSlot() : { bytes: allocate(text.length), start: 0 }
      writeAscii(place.bytes, text, place.start)
      return place
    },
    erase({ bytes, start }, length) {
      bytes.fill(0, start, start + length)
      // Copied, because the argument may be a cache entry, which would keep its session in memory.
      if (length <= SLOT_BYTES) free.push({ bytes, start })
    },
  }
}
