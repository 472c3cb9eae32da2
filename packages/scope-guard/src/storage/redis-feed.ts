import { malformedReply, orFault, redisFeed, type FeedEntry } from '@gatewright/kernel'
import type { RedisClient } from '@gatewright/kernel/redis'
import { checkedEntry } from './feed-entry.ts'
import type { RevocationFeed } from './feed-port.ts'
import { checkedFeedOptions, type FeedOptions } from './options.ts'

/** Reads one entry of a lane's stream: `[id, [field, value, ...]]`. */
function readEntry(lane: number, reply: unknown): FeedEntry {
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
  return checkedEntry('redis', { lane, position }, change as Record<string, unknown>)
}

/**
 * Reads the issuer's streams in Redis: one command per lane and page, all of them at once. With `subscribe`, Redis also notifies of new
 * entries.
 */
export function redisRevocationFeed(client: RedisClient, options: FeedOptions = {}): RevocationFeed {
  const { prefix, subscribe } = checkedFeedOptions('redisRevocationFeed', options)
  const { streams, channel } = redisFeed(prefix)
  const readLane = async (lane: number, position: number, limit: number): Promise<readonly FeedEntry[]> => {
    const stream = streams[lane] as string
    const command = ['XRANGE', stream, `(${position}-0`, '+', 'COUNT', String(limit)]
    const reply = await orFault('redis', () => client.run(stream, command))
    if (!Array.isArray(reply)) throw malformedReply('redis', 'a list of entries')
    return reply.map(entry => readEntry(lane, entry))
  }
  return {
    async after(positions, limit) {
      const pages = positions.map((position, lane) => readLane(lane, position, limit))
      return (await Promise.all(pages)).flat()
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
