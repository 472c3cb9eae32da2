import { type Clock, integerOption, knownOptions, type OptionNames, type Session } from '@gatewright/kernel'
import type { RevocationFeed } from '../storage/feed-port.ts'
import { withinTime } from '../timeout.ts'
import { followFeed } from './follower.ts'

/** Asks the truth: whether a session's key and the session itself are still good. One read of the issuer's store. */
export type LiveCheck = (session: Session) => Promise<boolean>

/**
 * How revoked sessions are found out. `strict`: ask the store on every request, bound 0. `feed`: known in the
 * process, no I/O, at most `boundMs` after the revoking call returned; a feed that falls behind makes every
 * request strict. `off`: a session lives to its end.
 */
export type RevocationOptions =
  | { readonly mode: 'off' }
  | { readonly mode: 'strict'; readonly isLive: LiveCheck }
  | {
      readonly mode: 'feed'
      readonly feed: RevocationFeed
      readonly isLive: LiveCheck
      /** 100 to 60 000, default 1000. */
      readonly boundMs?: number
      /** 10 to half the bound, default a quarter of it. */
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

/** Checks the mode and the names of its options: one of another mode would do nothing. Throws a `TypeError`. */
export function knownRevocation(options: RevocationOptions): RevocationOptions {
  const mode: unknown = (options as RevocationOptions | null)?.mode
  if (mode === 'off' || mode === 'strict' || mode === 'feed') {
    const names = OPTIONS[mode] as OptionNames<RevocationOptions>
    return knownOptions(`createGuard revocation (${mode})`, options, names)
  }
  knownOptions('createGuard revocation', options, OPTIONS.feed)
  throw new TypeError(`createGuard revocation: mode must be off, strict or feed, not ${JSON.stringify(mode)}`)
}

/** Decides whether a session is still good, apart from its own end. */
export interface Revocation {
  /** Whether nothing has revoked a session. Fault: `ERR_STORE_UNAVAILABLE` when the store had to be asked. */
  isActive(session: Session): Promise<boolean>
  /** Resolves when revocations up to now are known. Rejects when they cannot be had. */
  start(): Promise<void>
  stop(): Promise<void>
}

const done = async (): Promise<void> => undefined

/** Makes the check of one mode. Throws a `TypeError` for a wrong option. */
export function createRevocation(options: RevocationOptions, clock: Clock, timeoutMs: number): Revocation {
  if (options.mode === 'off') return { isActive: async () => true, start: done, stop: done }
  const { isLive } = options
  if (typeof isLive !== 'function') throw new TypeError('revocation.isLive must be a function')
  const ask = (session: Session): Promise<boolean> =>
    withinTime('revocation check', timeoutMs, async () => {
      const live: unknown = await isLive(session)
      if (typeof live !== 'boolean') throw new TypeError('isLive must answer true or false')
      return live
    })
  if (options.mode === 'strict') return { isActive: ask, start: done, stop: done }
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
      return follower.fresh() || ask(session)
    },
    start: () => follower.start(),
    stop: () => follower.stop(),
  }
}
