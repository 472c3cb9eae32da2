import type { Clock } from '@gatewright/kernel'
import type { RevocationFeed } from '../storage/feed-port.ts'
import { knownRevocations, type KnownRevocations } from './known.ts'

/** Keeps a process in step with the feed. */
export interface FeedFollower {
  readonly known: KnownRevocations
  /** Whether the last good poll began at most the bound ago: everything appended before that is known. */
  fresh(): boolean
  /** Reads the whole feed, then polls until `stop`. Rejects when the first reading fails. */
  start(): Promise<void>
  /** Reads what is new. Rejects when the feed fails; what was read before stays known. */
  poll(): Promise<void>
  stop(): Promise<void>
}

/** What a follower is built from, with every default filled in. */
export interface FollowerOptions {
  readonly feed: RevocationFeed
  readonly boundMs: number
  readonly pollMs: number
  readonly clock: Clock
  /** A clock that never jumps, in ms. */
  readonly monotonic: Clock
}

const PAGE = 1000
/** How often old entries are looked for, in ms. */
const FORGET_MS = 60_000

/**
 * Follows a feed: a poll every `pollMs`, and at once when the store pushes. The bound counts from the START of
 * the last good poll, on a monotonic clock: an entry appended while a poll runs may not be in its answer.
 */
export function followFeed(options: FollowerOptions): FeedFollower {
  const { feed, boundMs, pollMs, clock, monotonic } = options
  const known = knownRevocations()
  let goodSince = -Infinity
  let forgotAt = -Infinity
  let timer: NodeJS.Timeout | undefined
  let endPush: (() => Promise<void>) | undefined
  let stopped = false
  let round: Promise<void> | undefined
  let wanted = false

  const poll = async (): Promise<void> => {
    const started = monotonic.now()
    let from = known.position
    for (let more = true; more; ) {
      const entries = await feed.after(from, PAGE)
      known.add(entries)
      from = entries.at(-1)?.position ?? from
      more = entries.length >= PAGE
    }
    goodSince = Math.max(goodSince, started)
    if (started - forgotAt >= FORGET_MS) {
      forgotAt = started
      known.forget(clock.now())
    }
  }

  /** One poll at a time; a wake-up during one leads to another. A poll that hangs is left behind after the bound. */
  const wake = async (): Promise<void> => {
    wanted = true
    if (round) await round
    if (!wanted || stopped) return
    wanted = false
    round = within(poll(), boundMs)
    await round
    round = undefined
  }

  const schedule = (): void => {
    if (stopped) return
    timer = setTimeout(() => void wake().then(schedule), pollMs)
    timer.unref()
  }

  return {
    known,
    fresh: () => monotonic.now() - goodSince <= boundMs,
    poll,
    async start() {
      await poll()
      endPush = await feed.subscribe?.(() => void wake())
      schedule()
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      await endPush?.()
    },
  }
}

/** Waits for work at most `ms`, whatever becomes of it. A failed poll shows in `fresh`, nowhere else. */
async function within(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>(resolve => {
    timer = setTimeout(resolve, ms)
    timer.unref()
  })
  await Promise.race([work.catch(() => undefined), late])
  clearTimeout(timer)
}
