import { orFault } from '@gatewright/kernel'
import { checkOptions } from '@gatewright/kernel/internal'
import type { RedisClient } from '@gatewright/kernel/redis'
import { runScriptOnKeys } from '@gatewright/kernel/internal/redis'
import type { IdempotencyStorage } from './port.ts'
import { batched, single } from './redis-batching.ts'
import { listLostRuns, type Shard } from './redis-lost-runs.ts'
import {
  digits,
  endArguments,
  readBeginReply,
  readInteger,
  readRecord,
  replyFault,
  runningRecord,
} from './redis-record.ts'
import { BEGIN, END, EXTEND, TAKE_OVER } from './redis-scripts.ts'

/** Options of `redisIdempotency`. */
export interface RedisIdempotencyOptions {
  /** Prefix of every key. Default `gw:idempotency:`. */
  readonly prefix?: string
}

/** Longer responses are sent in commands of their own: sending them takes longest, and a batch of them would block the server. */
const LONGEST_BATCHED = 16_384

/** The first letters of keys. Keys with one first letter share a hash slot, so that a script can update their index with them. */
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/**
 * Stores the records in Redis, of version 6 or newer. A begin and an end take one round trip each; simultaneous calls share round trips.
 * An index of the running records makes lost runs listable. Redis must run with `maxmemory-policy noeviction` and
 * keep its data over a restart. A failover to a lagging replica can lose an acknowledged begin or response. A retry then runs
 * the write again, with the same `effectId` and a larger fence, so the system that makes the effect must check one of the two.
 * See docs/idempotency.md.
 */
export function redisIdempotency(
  client: RedisClient,
  options: RedisIdempotencyOptions = {},
): IdempotencyStorage {
  const { prefix } = checkOptions('redisIdempotency', options, { prefix: { default: 'gw:idempotency:' } })
  const shardOf = (letter: string): Shard => ({
    index: `${prefix}{${letter}}`,
    records: `${prefix}{${letter}}:`,
  })
  const keysOf = (key: string): readonly [record: string, index: string] => {
    const { index, records } = shardOf(key.slice(0, 1))
    return [records + key, index]
  }
  const [runBegin, runEnd, endSingle] = [batched(client, BEGIN), batched(client, END), single(client, END)]
  return {
    async begin(key, fingerprint, leaseUntil, now, label = { operation: '', account: '' }) {
      const args = [runningRecord(fingerprint, leaseUntil, now, label)]
      return readBeginReply(await runBegin({ keys: keysOf(key), args }), fingerprint, now)
    },
    async end(key, fence, ending, now) {
      const args = endArguments(fence, ending, now)
      const run = args[2].length > LONGEST_BATCHED ? endSingle : runEnd
      return readWon(await run({ keys: keysOf(key), args }))
    },
    async extend(key, fence, leaseUntil, now) {
      const args = [digits(fence), digits(leaseUntil), digits(now)]
      return readWon(await runScriptOnKeys(client, EXTEND, keysOf(key), args))
    },
    async takeOver(key, fence, leaseUntil, now) {
      const args = [digits(fence), digits(leaseUntil), digits(now)]
      const reply = await runScriptOnKeys(client, TAKE_OVER, keysOf(key), args)
      return typeof reply === 'string' ? readInteger(reply) : readNone(reply)
    },
    listLost: page => listLostRuns(client, [...LETTERS].map(shardOf), page),
    async find(key) {
      const [record] = keysOf(key)
      const reply = await orFault('redis', () => client.run(record, ['GET', record]))
      return reply === null ? undefined : readRecord(key, reply)
    },
    collect: async () => 0,
  }
}

function readWon(reply: unknown): boolean {
  if (reply !== 0 && reply !== 1) throw replyFault(reply, '0 or 1')
  return reply === 1
}

function readNone(reply: unknown): undefined {
  if (reply !== 0) throw replyFault(reply, '0 or a fence')
}
