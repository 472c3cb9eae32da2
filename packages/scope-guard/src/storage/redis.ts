import { GRACE_MS, keyDigest, malformedReply } from '@gatewright/kernel'
import { checkOptions } from '@gatewright/kernel/internal'
import type { RedisClient } from '@gatewright/kernel/redis'
import { runScript } from '@gatewright/kernel/internal/redis'
import type { StorageOptions } from './options.ts'
import type { SpendStorage } from './port.ts'
import {
  bucketArguments,
  counterArguments,
  holdText,
  readReserveReply,
  readUsageReply,
} from './redis-encoding.ts'
import { END_HOLD, RESERVE, USAGE } from './redis-scripts.ts'

export { redisApprovals } from './approvals-redis.ts'
export { redisRevocationFeed } from './redis-feed.ts'
export type { FeedOptions, StorageOptions } from './options.ts'

/** Settles a hold in full: an empty text releases it. */
const WHOLE = -1

/**
 * Stores spend counters in Redis: one script, one slot, one round trip per call. Redis must run with
 * `maxmemory-policy noeviction`. A failover to a replica that lags loses acknowledged reservations. If caps must survive a
 * failover, keep the counters in the database of the ledger. See docs/policies.md.
 */
export function redisSpends(client: RedisClient, options: StorageOptions = {}): SpendStorage {
  const { prefix } = checkOptions('redisSpends', options, { prefix: { default: 'gw:spend:' } })
  const slot = (accountId: string): string => `${prefix}{${keyDigest(accountId)}}`
  const endHold = async (accountId: string, holdId: string, actual: string): Promise<number> => {
    const reply = await runScript(client, END_HOLD, slot(accountId), [keyDigest(holdId), actual])
    if (reply !== 0 && reply !== 1 && reply !== 2) throw malformedReply('redis', '0, 1 or 2')
    return reply
  }
  return {
    async reserve(accountId, holdId, items, now) {
      const args = items.flatMap(({ counter, amount, cap, expiresAt, buckets }) => [
        keyDigest(counter),
        String(amount),
        String(cap),
        expiresAt === null ? '' : String(Math.max(expiresAt - now, 0) + GRACE_MS),
        ...bucketArguments(buckets),
      ])
      const hold = holdId === null ? ['', ''] : [keyDigest(holdId), holdText(items)]
      const reply = await runScript(client, RESERVE, slot(accountId), [...hold, ...args])
      return readReserveReply(reply, items.length)
    },
    async settle(accountId, holdId, actualCents) {
      const reply = await endHold(accountId, holdId, String(actualCents ?? WHOLE))
      return reply === 1 ? 'settled' : reply === 0 ? 'gone' : 'exceeds'
    },
    release: async (accountId, holdId) => (await endHold(accountId, holdId, '')) === 1,
    async usage(accountId, counters) {
      const reply = await runScript(client, USAGE, slot(accountId), counterArguments(counters))
      return readUsageReply(reply, counters)
    },
    collect: async () => 0,
  }
}
