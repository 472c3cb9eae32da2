import type { Session, Clock } from '@gatewright/kernel'
import { checkOptions } from '@gatewright/kernel/internal'
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
      /** After how long a revocation is known at the latest, in ms, 100 to 60 000, default 1000. The feed is polled four times as often. */
      readonly boundMs?: number
      /** A clock that never jumps, in ms. Default `performance.now()`. */
      readonly monotonic?: Clock
    }

/** The options of one mode, with their defaults. */
export type CheckedRevocation =
  | Exclude<RevocationOptions, { readonly mode: 'feed' }>
  | Required<Extract<RevocationOptions, { readonly mode: 'feed' }>>

const isLive = { is: 'function' } as const

/** Checks the options and fills in the defaults. Throws a `TypeError`, also for an option of another mode. */
export function checkedRevocation(options: RevocationOptions = { mode: 'off' }): CheckedRevocation {
  const where = 'createGuard revocation'
  switch (options?.mode) {
    case 'off':
      return checkOptions(`${where} (off)`, options, { mode: true })
    case 'strict':
      return checkOptions(`${where} (strict)`, options, { mode: true, isLive })
    case 'feed':
    default:
      return checkOptions(options?.mode === 'feed' ? `${where} (feed)` : where, options, {
        // No other mode comes here, except one that does not exist.
        mode: { is: ['off', 'strict', 'feed'] as readonly string[] as readonly 'feed'[] },
        feed: true,
        isLive,
        boundMs: { min: 100, max: 60_000, default: 1000 },
        monotonic: { default: performance },
      })
  }
}

/** Decides whether a session is revoked. Its expiry is checked elsewhere. */
export interface Revocation {
  /**
   * Whether a session is not revoked: without a promise where this process knows. Fault, rejected: `ERR_STORE_UNAVAILABLE`, if
   * the store had to be queried.
   */
  isActive(session: Session): boolean | Promise<boolean>
  /** Resolves when all revocations so far are known. Rejects if the feed fails. */
  start(): Promise<void>
  stop(): Promise<void>
}

const noop = async (): Promise<void> => undefined

/** Makes the revocation check of one mode. */
export function createRevocation(options: CheckedRevocation, clock: Clock, timeoutMs: number): Revocation {
  if (options.mode === 'off') return { isActive: () => true, start: noop, stop: noop }
  const { isLive } = options
  const queryStore = (session: Session): Promise<boolean> =>
    withinTime('revocation check', timeoutMs, async () => {
      const live: unknown = await isLive(session)
      if (typeof live !== 'boolean')
        throw new TypeError(`isLive must resolve to true or false, got ${typeof live}`)
      return live
    })
  if (options.mode === 'strict') return { isActive: queryStore, start: noop, stop: noop }
  const { feed, boundMs, monotonic } = options
  const follower = followFeed({ feed, boundMs, pollMs: Math.floor(boundMs / 4), clock, monotonic })
  return {
    isActive(session) {
      if (follower.known.ends(session, clock.now())) return false
      return follower.isFresh() || queryStore(session)
    },
    start: () => follower.start(),
    stop: () => follower.stop(),
  }
}
