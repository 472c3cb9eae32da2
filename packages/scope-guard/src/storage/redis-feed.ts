import {
  knownOptions,
  malformedReply,
  orFault,
  redisFeed,
  type FeedEntry,
  type OptionNames,
} from '@gatewright/kernel'
import type { RedisClient } from '@gatewright/kernel/redis'
import { checkedEntry } from './feed-entry.ts'
import type { RevocationFeed } from './feed-port.ts'

/** Options of `redisRevocationFeed`. */
export interface RedisFeedOptions {
  /** Prefix of the issuer's keys. Default `{gw}:`. */
  readonly prefix?: string
  /**
   * Subscribes a listener to a channel, for push; it needs a connection of its own. With node-redis:
   * `async (channel, listener) => { await own.subscribe(channel, listener); return () => own.unsubscribe(channel) }`.
   */
  readonly subscribe?: (channel: string, listener: () => void) => Promise<() => Promise<unknown>>
}

const OPTIONS: OptionNames<RedisFeedOptions> = { prefix: true, subscribe: true }

/** One stream entry: `[id, [field, value, ...]]`. */
function readEntry(reply: unknown): FeedEntry {
  const [id, fields] = Array.isArray(reply) ? (reply as unknown[]) : []
  const position = typeof id === 'string' && /^\d+-0$/.test(id) ? Number(id.slice(0, -2)) : undefined
  const [name, value] = Array.isArray(fields) ? (fields as unknown[]) : []
  if (position === undefined || name !== 'entry' || typeof value !== 'string') {
    throw malformedReply('redis', 'a feed entry')
  }
  let change: unknown
  try {
    change = JSON.parse(value)
  } catch {
    throw malformedReply('redis', 'a feed entry as JSON')
  }
  if (typeof change !== 'object' || change === null) throw malformedReply('redis', 'a feed entry')
  return checkedEntry('redis', position, change as Record<string, unknown>)
}

/** Reads the issuer's stream in Redis, one round trip per page; with `subscribe` it is pushed, too. */
export function redisRevocationFeed(client: RedisClient, options: RedisFeedOptions = {}): RevocationFeed {
  const { prefix, subscribe } = knownOptions('redisRevocationFeed', options, OPTIONS)
  const { stream, channel } = redisFeed(prefix)
  return {
    async after(position, limit) {
      const command = ['XRANGE', stream, `(${position}-0`, '+', 'COUNT', String(limit)]
      const reply = await orFault('redis', () => client.run(stream, command))
      if (!Array.isArray(reply)) throw malformedReply('redis', 'a list of entries')
      return reply.map(readEntry)
    },
    ...(subscribe && {
      subscribe: listener =>
        orFault('redis', async () => {
          const end = await subscribe(channel, listener)
          return async () => {
            await end()
          }
        }),
    }),
  }
}
