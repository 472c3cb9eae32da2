import { Fault, GRACE_MS, keyDigest, malformedReply } from '@gatewright/kernel'
import { checkOptions } from '@gatewright/kernel/internal'
import type { RedisClient } from '@gatewright/kernel/redis'
import { runScript, type RedisScript } from '@gatewright/kernel/internal/redis'
import type { ChallengeStorage } from './port.ts'
import { CLAIM, CONSUME, ISSUE } from './redis-scripts.ts'

/** Options of `redisNonces`. */
export interface RedisNoncesOptions {
  /** Prefix of every nonce. Default `gw:nonce:`. */
  readonly prefix?: string
  /** Prefix of every challenge. Default `gw:challenge:`. */
  readonly challengePrefix?: string
}

/**
 * Replay protection in Redis: one script, one key and one round trip per method. It holds as many keys as `maxmemory`
 * allows, about 150 bytes each; beyond that, `ERR_STORE_FULL`. Redis must run with `maxmemory-policy noeviction`,
 * because every other policy evicts live nonces. A failover to a replica that lags can lose an acknowledged claim; see
 * docs/storage.md.
 */
export function redisNonces(client: RedisClient, options: RedisNoncesOptions = {}): ChallengeStorage {
  const { prefix, challengePrefix } = checkOptions('redisNonces', options, {
    prefix: { default: 'gw:nonce:' },
    challengePrefix: { default: 'gw:challenge:' },
  })
  const decide = async (script: RedisScript, key: string, args: readonly number[]): Promise<boolean> => {
    const reply = await runScript(client, script, key, args.map(String)).catch(orFull)
    if (reply !== 0 && reply !== 1) throw malformedReply('redis', '0 or 1')
    return reply === 1
  }
  return {
    claim: (key, expiresAt, now) =>
      decide(CLAIM, prefix + keyDigest(key), [expiresAt, now, expiresAt - now + GRACE_MS]),
    issue: (key, expiresAt, now) =>
      decide(ISSUE, challengePrefix + keyDigest(key), [expiresAt, expiresAt - now + GRACE_MS]),
    consume: (key, now) => decide(CONSUME, challengePrefix + keyDigest(key), [now]),
    collect: async () => 0,
  }
}

/** Redis rejects writes over `maxmemory` with an error that begins with OOM, and then has written nothing. */
function orFull(error: unknown): never {
  const cause = error instanceof Fault ? error.cause : undefined
  if (cause instanceof Error && cause.message.startsWith('OOM')) {
    throw new Fault('ERR_STORE_FULL', 'redis is at its maxmemory', { cause })
  }
  throw error
}
