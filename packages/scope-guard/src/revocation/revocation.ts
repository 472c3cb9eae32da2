import { type Clock, integerOption, knownOptions, type OptionNames, type Session } from '@gatewright/kernel'
import type { RevocationFeed } from '../storage/feed-port.ts'
import { withinTime } from '../timeout.ts'
import { followFeed } from './feed-follower.ts'

/**
 * How the guard learns of revoked sessions. `strict`: it queries the issuer's store on every request. `feed`: the process
 * follows the revocation feed and knows a revocation at most `boundMs` after the revoking call returned, without I/O per
 * request; while the feed is stale, every request is checked as with `strict`. `off`: a session is valid until it expires.
 */
export type RevocationOptions =
  | { readonly mode: 'off' }
  | {
      readonly mode: 'strict'
      /** Queries the issuer's store. Returns whether neither the session nor its key was revoked or changed. */
      readonly isLive: (session: Session) => Promise<boolean>
    }
  | {
      readonly mode: 'feed'
      readonly feed: RevocationFeed
      /** Queries the issuer's store, as with `strict`. */
      readonly isLive: (session: Session) => Promise<boolean>
      /** 100 to 60 000, default 1000. */
      readonly boundMs?: number
      /** 10 to half of `boundMs`, default a quarter of it. */
      readonly pollMs?: number
      /** A clock that never jumps, in ms. Default `performance.now()`. */
      readonly monotonic?: Clock
    }

type Mode = RevocationOptions['mode']

const OPTIONS: { readonly [M in Mode]: OptionNames<Extract<RevocationOptions, { readonly mode: M }>> } = {
  off: { mode: true },
  strict: { mode: true, isLive: true },
  feed: { mode: true, feed: true, isLive: true, boundMs: true, pollMs: true, monotonic: true },
}

/** Checks the mode and the names of its options. Throws a `TypeError`, also for an option of another mode. */
export function checkedRevocation(options: RevocationOptions): RevocationOptions {
  const mode: unknown = (options as RevocationOptions | null)?.mode
  if (mode === 'off' || mode === 'strict' || mode === 'feed') {
    const names = OPTIONS[mode] as OptionNames<RevocationOptions>
    return knownOptions(`createGuard revocation (${mode})`, options, names)
  }
  knownOptions('createGuard revocation', options, OPTIONS.feed)
  throw new TypeError(
    `createGuard revocation: mode must be "off", "strict" or "feed", got ${JSON.stringify(mode)}`,
  )
}

/** Decides whether a session is revoked. Its expiry is checked elsewhere. */
export interface Revocation {
  /** Whether a session is not revoked. Fault: `ERR_STORE_UNAVAILABLE`, if the store had to be queried. */
  isActive(session: Session): Promise<boolean>
  /** Resolves when all revocations so far are known. Rejects if the feed fails. */
  start(): Promise<void>
  stop(): Promise<void>
}

const noop = async (): Promise<void> => undefined

/** Makes the revocation check of one mode. Throws a `TypeError` for a wrong option. */
export function createRevocation(options: RevocationOptions, clock: Clock, timeoutMs: number): Revocation {
  if (options.mode === 'off') return { isActive: async () => true, start: noop, stop: noop }
  const { isLive } = options
  if (typeof isLive !== 'function')
    throw new TypeError(`revocation.isLive must be a function, got ${typeof isLive}`)
  const queryStore = (session: Session): Promise<boolean> =>
    withinTime('revocation check', timeoutMs, async () => {
      const live: unknown = await isLive(session)
      if (typeof live !== 'boolean')
        throw new TypeError(`isLive must resolve to true or false, got ${typeof live}`)
      return live
    })
  if (options.mode === 'strict') return { isActive: queryStore, start: noop, stop: noop }
  const boundMs = integerOption('revocation.boundMs', options.boundMs ?? 1000, 100, 60_000)
  const pollMs = integerOption(
    'revocation.pollMs',
    options.pollMs ?? Math.floor(boundMs / 4),
    10,
    Math.floor(boundMs / 2),
  )
  const monotonic = options.monotonic ?? performance
  const follower = followFeed({ feed: options.feed, boundMs, pollMs, clock, monotonic })
  return {
    async isActive(session) {
      if (follower.known.ends(session, clock.now())) return false
      return follower.isFresh() || queryStore(session)
    },
    start: () => follower.start(),
    stop: () => follower.stop(),
  }
}
