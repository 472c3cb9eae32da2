import { setBackgroundTimer } from '@gatewright/kernel/internal'
import type { Clock } from '@gatewright/kernel'
import type { RevocationFeed } from '../storage/feed-port.ts'
import { knownRevocations, type KnownRevocations } from './known-revocations.ts'

interface FeedFollower {
  readonly known: KnownRevocations
  /** Whether the last successful poll began at most the bound ago. Everything appended before it began is known. */
  isFresh(): boolean
  /** Reads the whole feed, then polls until `stop`. Rejects if the first poll fails. */
  start(): Promise<void>
  stop(): Promise<void>
}

interface FollowerOptions {
  readonly feed: RevocationFeed
  readonly boundMs: number
  readonly pollMs: number
  readonly clock: Clock
  /** A clock that never jumps, in ms. */
  readonly monotonic: Clock
}

/** Maximum number of entries of one lane in one page. */
const PAGE_ENTRIES = 1000
/** How often expired entries are removed, in ms. */
const FORGET_EVERY_MS = 60_000

/**
 * Follows a feed: polls every `pollMs`, and immediately when the store notifies. The bound counts from the START of the
 * last successful poll, on a monotonic clock: an entry that is appended while a poll runs may be missing from its result.
 */
export function followFeed(options: FollowerOptions): FeedFollower {
  const { feed, boundMs, pollMs, clock, monotonic } = options
  const known = knownRevocations()
  let polledAt = -Infinity
  let forgottenAt = -Infinity
  let timer: NodeJS.Timeout | undefined
  let unsubscribe: (() => Promise<void>) | undefined
  let stopped = false
  let current: Promise<void> | undefined
  let requested = false

  const poll = async (): Promise<void> => {
    const started = monotonic.now()
    for (let more = true; more; ) {
      const entries = await feed.after(known.positions, PAGE_ENTRIES)
      known.add(entries)
      more = entries.length >= PAGE_ENTRIES
    }
    polledAt = Math.max(polledAt, started)
    if (started - forgottenAt >= FORGET_EVERY_MS) {
      forgottenAt = started
      known.forget(clock.now())
    }
  }

  /**
   * Runs one poll at a time. A notification during a poll starts another poll afterwards. A poll that hangs is abandoned after
   * the bound.
   */
  const wake = async (): Promise<void> => {
    requested = true
    if (current) await current
    if (!requested || stopped) return
    requested = false
    current = waitAtMost(poll(), boundMs)
    await current
    current = undefined
  }

  const schedule = (): void => {
    if (stopped) return
    timer = setBackgroundTimer(() => void wake().then(schedule), pollMs)
  }

  return {
    known,
    isFresh: () => monotonic.now() - polledAt <= boundMs,
    async start() {
      await poll()
      unsubscribe = await feed.subscribe?.(() => void wake())
      schedule()
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      await unsubscribe?.()
    },
  }
}

/** Waits for `work` for at most `ms`, and ignores its failure: after a failed poll, `isFresh` returns false. */
async function waitAtMost(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>(resolve => {
    timer = setBackgroundTimer(resolve, ms)
  })
  await Promise.race([work.catch(() => undefined), late])
  clearTimeout(timer)
}
