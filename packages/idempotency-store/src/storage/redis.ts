import { checkOptions, toFault } from '@gatewright/kernel'
import { runScript, type RedisClient } from '@gatewright/kernel/redis'
import type { IdempotencyStorage } from './port.ts'
import { batched, type SendKeyCommand } from './redis-batching.ts'
import { endArguments, hasEnded, readBeginReply, replyFault, runningRecord } from './redis-record.ts'
import { BEGIN, END } from './redis-scripts.ts'

/** Options of `redisIdempotency`. */
export interface RedisIdempotencyOptions {
  /** Prefix of every key. Default `gw:idempotency:`. */
  readonly prefix?: string
}

/** Longer responses are sent in commands of their own: sending them takes longest, and a batch of them would block the server. */
const LONGEST_BATCHED = 16_384

/** Servers before Redis 7.0 reject `SET` with NX and GET, without running it. */
const isUnsupported = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('ERR syntax')

/**
 * Stores the records in Redis. Every call takes one round trip; a begin that starts an ended key again takes two, and so does
 * every begin before Redis 7.0. Simultaneous calls share round trips. Redis must run with `maxmemory-policy noeviction` and
 * keep its data over a restart. A failover to a lagging replica can lose an acknowledged begin or response. A retry then runs
 * the write again, with the same `effectId` and a larger fence, so the system that makes the effect must check one of the two.
 * See docs/idempotency.md.
 */
export function redisIdempotency(
  client: RedisClient,
  options: RedisIdempotencyOptions = {},
): IdempotencyStorage {
  const { prefix } = checkOptions('redisIdempotency', options, { prefix: { default: 'gw:idempotency:' } })
  // A single begin needs no script. Only a key that is started again does, in a second round trip.
  const beginSingle: SendKeyCommand = ({ key, args: [record = ''] }) =>
    client.run(key, ['SET', key, record, 'NX', 'GET'])
  const endSingle: SendKeyCommand = ({ key, args }) => runScript(client, END.single, key, args)
  const runBegin = batched(client, BEGIN, beginSingle)
  const runEnd = batched(client, END, endSingle)
  return {
    async begin(key, fingerprint, leaseUntil, now) {
      const record = runningRecord(fingerprint, leaseUntil, now)
      const call = { key: prefix + key, args: [record] }
      try {
        const reply = await runBegin(call)
        // Only a plain SET replies with null: the key is new.
        if (reply === null) return { state: 'started', fence: now }
        if (!hasEnded(reply, record)) return readBeginReply(reply, fingerprint, now)
      } catch (error) {
        if (!isUnsupported(error)) throw toFault('redis', error)
      }
      return readBeginReply(await runScript(client, BEGIN.single, call.key, call.args), fingerprint, now)
    },
    async end(key, fence, ending, now) {
      const args = endArguments(fence, ending, now)
      const run = args[2].length > LONGEST_BATCHED ? endSingle : runEnd
      const reply = await run({ key: prefix + key, args })
      if (reply !== 0 && reply !== 1) throw replyFault(reply, '0 or 1')
      return reply === 1
    },
    collect: async () => 0,
  }
}
