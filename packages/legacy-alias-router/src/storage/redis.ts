import { malformedReply } from '@gatewright/kernel'
import { checkOptions } from '@gatewright/kernel/internal'
import type { RedisClient } from '@gatewright/kernel/redis'
import { runScript } from '@gatewright/kernel/internal/redis'
import type { AliasUsage, AliasUsageStorage } from './port.ts'
import { ADD, COLLECT, PAGE } from './redis-scripts.ts'

/** How long the batch number of a writer is kept. */
const WRITER_MS = 86_400_000

/** Options of `redisAliasUsage`. */
export interface RedisAliasUsageOptions {
  /** Prefix of every key. Its hash tag keeps all keys in one slot of a cluster. Default `{gw:alias}:`. */
  readonly prefix?: string
}

function readRow(pair: unknown, counted: unknown, seen: unknown): AliasUsage {
  const [alias, caller, more] = typeof pair === 'string' ? pair.split('\n') : []
  const figures = `${String(counted)}:${String(seen)}`.split(':').map(Number)
  const [count, firstSeen, lastSeen] = figures
  if (!alias || !caller || more !== undefined || figures.length !== 3) {
    throw malformedReply('redis', 'rows of usage')
  }
  if (!figures.every(Number.isSafeInteger)) throw malformedReply('redis', 'integers')
  return { alias, caller, count, firstSeen, lastSeen } as AliasUsage
}

/**
 * Stores the usage in Redis, in one hash slot and with one round trip per call. A failover to a lagging replica loses
 * acknowledged batches; see docs/storage.md.
 */
export function redisAliasUsage(
  client: RedisClient,
  options: RedisAliasUsageOptions = {},
): AliasUsageStorage {
  const { prefix } = checkOptions('redisAliasUsage', options, { prefix: { default: '{gw:alias}:' } })
  if (!/\{[^{}]+\}/.test(prefix))
    throw new TypeError(`prefix must contain a hash tag, such as {gw:alias}:, got ${prefix}`)
  const key = `${prefix}usage`
  return {
    async add({ writer, sequence, rows }) {
      const flat = rows.flatMap(({ alias, caller, count, firstSeen, lastSeen }) => [
        alias,
        caller,
        String(count),
        String(firstSeen),
        String(lastSeen),
      ])
      const args = [writer, String(sequence), String(WRITER_MS), ...flat]
      const reply = await runScript(client, ADD, key, args)
      if (reply !== 0 && reply !== 1) throw malformedReply('redis', '0 or 1')
      return reply === 1
    },
    async page(after, limit) {
      const start = after ? `${after.alias}\n${after.caller}` : ''
      const reply = await runScript(client, PAGE, key, [start, String(limit)])
      if (!Array.isArray(reply) || reply.length % 3 !== 0) throw malformedReply('redis', 'rows of usage')
      return Array.from({ length: reply.length / 3 }, (_, row) =>
        readRow(reply[3 * row], reply[3 * row + 1], reply[3 * row + 2]),
      )
    },
    async collect(limit, before) {
      const reply = await runScript(client, COLLECT, key, [String(before), String(limit)])
      if (!Number.isSafeInteger(reply)) throw malformedReply('redis', 'a count')
      return reply as number
    },
  }
}
