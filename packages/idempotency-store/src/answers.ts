import type { EpochMs } from '@gatewright/kernel'

/** The answer of a key as it is stored, while it is replayed. */
export interface RecentAnswer {
  readonly fingerprint: string
  readonly text: string
  readonly expiresAt: EpochMs
}

/** Answers that this process has replayed. */
export interface RecentAnswers {
  /** The answer of a key. Undefined at its `expiresAt`, and where it was never seen or is forgotten. */
  find(key: string, now: EpochMs): RecentAnswer | undefined
  add(key: string, answer: RecentAnswer): void
}

/** What an entry takes beside its texts, in bytes, roughly. */
const ENTRY_BYTES = 200

/**
 * Holds the latest answers that were replayed, `maxBytes` of them at most, half of them in each of two generations: when the young
 * one is full, it takes the place of the old one. (Dropping the oldest entry of one map, call by call, would
 * search for it each time.) Only a copy: a kept answer never changes before it expires, so the store would say
 * the same, and what is not here is asked there.
 */
export function recentAnswers(maxBytes: number): RecentAnswers {
  let [young, old] = [new Map<string, RecentAnswer>(), new Map<string, RecentAnswer>()]
  let bytes = 0
  return {
    find(key, now) {
      const answer = young.get(key) ?? old.get(key)
      return answer && now < answer.expiresAt ? answer : undefined
    },
    add(key, answer) {
      const size = key.length + answer.text.length + ENTRY_BYTES
      if (2 * size > maxBytes) return
      if (2 * (bytes + size) > maxBytes) {
        old = young
        young = new Map()
        bytes = 0
      }
      young.set(key, answer)
      bytes += size
    },
  }
}
