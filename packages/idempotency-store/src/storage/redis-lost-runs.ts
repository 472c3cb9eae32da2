import { malformedReply, orFault } from '@gatewright/kernel'
import type { RedisClient } from '@gatewright/kernel/redis'
import type { LostRunPage, RunRecord } from './port.ts'
import { digits, readRecord } from './redis-record.ts'

/** How many index members are read at once. */
const CHUNK = 200

/** The keys of one shard, which have one hash slot: where its index is, and what its records begin with. */
export interface Shard {
  readonly index: string
  readonly records: string
}

/** Lists lost runs of one shard. Running records that are not lost are skipped: there are as many of them as runs in progress. */
async function listShard(
  client: RedisClient,
  { index, records }: Shard,
  { limit, now, account, after }: LostRunPage,
): Promise<readonly RunRecord[]> {
  const found: RunRecord[] = []
  // The members are made by scripts, whose keys begin with what the client puts before them.
  const begin = (client.keyPrefix ?? '') + records
  let from = after ? `(${digits(after.beganAt)}${begin}${after.key}` : '-'
  while (found.length < limit) {
    const members = await textsOf(client, index, [
      'ZRANGEBYLEX',
      index,
      from,
      '+',
      'LIMIT',
      '0',
      String(CHUNK),
    ])
    const last = members.at(-1)
    if (last === undefined) break
    const keys = members.map(member => member.slice(16 + begin.length))
    const held = await orFault('redis', () => client.run(index, ['MGET', ...keys.map(key => records + key)]))
    if (!Array.isArray(held) || held.length !== keys.length) throw malformedReply('redis', 'records')
    for (const [at, key] of keys.entries()) {
      // The run has ended since the index was read.
      if (held[at] === null) continue
      const record = readRecord(key, held[at])
      const isLost = record.state === 'running' && record.until <= now
      if (isLost && (account === undefined || record.account === account)) found.push(record)
    }
    if (members.length < CHUNK) break
    from = `(${last}`
  }
  return found.slice(0, limit)
}

async function textsOf(
  client: RedisClient,
  key: string,
  command: readonly string[],
): Promise<readonly string[]> {
  const reply = await orFault('redis', () => client.run(key, command))
  if (!Array.isArray(reply) || !reply.every(each => typeof each === 'string'))
    throw malformedReply('redis', 'texts')
  return reply
}

/** Lists lost runs of all shards: the first that began first. */
export async function listLostRuns(
  client: RedisClient,
  shards: readonly Shard[],
  page: LostRunPage,
): Promise<readonly RunRecord[]> {
  const lists = await Promise.all(shards.map(shard => listShard(client, shard, page)))
  const byBegin = (one: RunRecord, other: RunRecord): number =>
    one.beganAt - other.beganAt || (one.key < other.key ? -1 : 1)
  return lists.flat().sort(byBegin).slice(0, page.limit)
}
