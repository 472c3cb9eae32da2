import { redisApprovals, redisSpends } from '@gatewright/scope-guard/redis'
import {
  approvalStorageContract,
  approvalStorageFaults,
  spendStorageContract,
  spendStorageFaults,
} from '@gatewright/scope-guard/testing'
import t from 'tap'
import { faultyRedis, faultyStores } from '../../harness/databases/faulty.ts'
import { runner } from '../../harness/runner.ts'
import { openRedis, uniqueName } from '../../harness/stores.ts'

spendStorageContract(runner, 'Redis', async () => {
  const { connections, close } = await openRedis(4)
  return { connections: connections.map(client => redisSpends(client)), expiresNatively: true, close }
})

spendStorageFaults(runner, 'Redis', () => faultyStores(faultyRedis(), client => redisSpends(client)))

approvalStorageContract(runner, 'Redis', async () => {
  const { connections, close } = await openRedis(4)
  return { connections: connections.map(client => redisApprovals(client)), expiresNatively: true, close }
})

approvalStorageFaults(runner, 'Redis', () => faultyStores(faultyRedis(), client => redisApprovals(client)))

const item = { counter: 'c', unit: 'cents', cap: 10, amount: 1, expiresAt: 1000 } as const

t.test('reserves several counters in one round trip, all keys in one slot', async t => {
  const { connections, close } = await openRedis(1)
  t.teardown(close)
  const commands: string[] = []
  const storage = redisSpends({
    run: (key, command) => {
      commands.push(command[0] as string)
      return connections[0]!.run(key, command)
    },
  })
  await storage.reserve(uniqueName(), 'h', [item], 0)
  commands.length = 0
  const account = uniqueName()
  await storage.reserve(account, 'h', [item, { ...item, counter: 'd' }, { ...item, counter: 'e' }], 0)
  t.same(commands, ['EVALSHA'])
  const keys = (await connections[0]!.run('', ['KEYS', '*'])) as string[]
  for (const key of keys.filter(held => held.startsWith('gw:spend:')))
    t.match(key, /^gw:spend:\{[\w-]{43}\}:[cho]:/)
})

t.test(
  'a hold of the version before, which has no key for what is held, hides nothing of later holds',
  async t => {
    const { connections, close } = await openRedis(1)
    t.teardown(close)
    const [client] = connections
    const prefix = `${uniqueName()}:`
    const storage = redisSpends(client!, { prefix })
    await storage.reserve('a', 'old', [item], 0)
    const [key] = (await client!.run('', ['KEYS', `${prefix}*}:o:*`])) as string[]
    await client!.run(key!, ['DEL', key!])
    await storage.reserve('a', 'part', [{ ...item, amount: 1 }], 0)
    t.equal(await storage.release('a', 'old'), true)
    t.same(await storage.usage('a', [item.counter]), [{ used: 1, held: 0 }])
    await storage.reserve('a', 'new', [{ ...item, amount: 2 }], 0)
    t.same(await storage.usage('a', [item.counter]), [{ used: 3, held: 2 }])
  },
)

t.test('sets an expiry beyond the window on counters, and none on holds', async t => {
  const { connections, close } = await openRedis(1)
  t.teardown(close)
  const [client] = connections
  const prefix = `${uniqueName()}:`
  const now = 1_767_225_600_000
  await redisSpends(client!, { prefix }).reserve('a', 'h', [{ ...item, expiresAt: now + 1000 }], now)
  const keys = (await client!.run('', ['KEYS', `${prefix}*`])) as string[]
  const lives = await Promise.all(
    keys.map(async key => [key, await client!.run(key, ['PTTL', key])] as const),
  )
  for (const [key, life] of lives) {
    if (key.includes('}:h:')) t.equal(life, -1)
    else t.ok((life as number) > 600_000 && (life as number) <= 601_000, `${String(life)} ms`)
  }
  t.equal(lives.length, 3)
})

t.test('ends a hold whose counter has expired, and makes no new counter of it', async t => {
  const { connections, close } = await openRedis(1)
  t.teardown(close)
  const [client] = connections
  const prefix = `${uniqueName()}:`
  const storage = redisSpends(client!, { prefix })
  await storage.reserve('a', 'h', [item], 0)
  for (const key of (await client!.run('', ['KEYS', `${prefix}*}:c:*`])) as string[])
    await client!.run(key, ['DEL', key])
  t.equal(await storage.release('a', 'h'), true)
  t.same(await storage.usage('a', [item.counter]), [{ used: 0, held: 0 }])
})

t.test('has nothing to collect, because Redis deletes what has expired', async t => {
  const { connections, close } = await openRedis(1)
  t.teardown(close)
  t.equal(await redisSpends(connections[0]!).collect(10, 1000), 0)
})

t.test('throws a fault for a reply of two items that is not an outcome', async t => {
  const two = [item, { ...item, counter: 'd' }]
  for (const reply of [
    [],
    [0],
    [0, 1],
    [1],
    [1, 5],
    [1, 5, 5, 5],
    [1, 5, 'x'],
    [2, 0],
    [3],
    [3, 0, 5],
    'OK',
  ]) {
    const storage = redisSpends({ run: async () => reply })
    await t.rejects(storage.reserve('a', 'h', two, 0), { name: 'Fault', code: 'ERR_STORE_REPLY' })
  }
})
