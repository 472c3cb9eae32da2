import { redisIdempotency } from '@gatewright/idempotency-store/redis'
import { idempotencyStorageContract, idempotencyStorageFaults } from '@gatewright/idempotency-store/testing'
import type { Fault } from '@gatewright/kernel'
import { fromNodeRedis, type RedisClient } from '@gatewright/kernel/redis'
import { createClient } from 'redis'
import t, { type Test } from 'tap'
import { faultyRedis, faultyStores } from '../../harness/databases/faulty.ts'
import { runner } from '../../harness/runner.ts'
import { startRedis } from '../../harness/services.ts'
import { openRedis, uniqueName } from '../../harness/stores.ts'

idempotencyStorageContract(runner, 'Redis', async () => {
  const { connections, close } = await openRedis(4)
  return { connections: connections.map(client => redisIdempotency(client)), expiresNatively: true, close }
})

idempotencyStorageContract(runner, 'Redis without batching', async () => {
  const { connections, close } = await openRedis(4)
  return {
    connections: connections.map(({ run }) => redisIdempotency({ run })),
    expiresNatively: true,
    close,
  }
})

idempotencyStorageFaults(runner, 'Redis', () =>
  faultyStores(faultyRedis(), client => redisIdempotency(client)),
)

/** A storage over one connection, and the commands that it sends. */
async function recording(t: Test) {
  const { connections, close } = await openRedis(1)
  t.teardown(close)
  const client = connections[0]!
  const commands: string[] = []
  const storage = redisIdempotency({
    run: (key, command) => {
      commands.push(command[0] as string)
      return client.run(key, command)
    },
  })
  return { client, commands, storage }
}

t.test('takes one round trip per call, and one more after the server lost its scripts', async t => {
  const { client, commands, storage } = await recording(t)
  const write = async (key: string): Promise<void> => {
    commands.length = 0
    await storage.begin(key, 'f', 2000, 1000)
    await storage.end(key, 1000, { state: 'done', response: '{}', expiresAt: 9000 }, 1000)
  }
  await write(uniqueName())
  await write(uniqueName())
  t.same(commands, ['EVALSHA', 'EVALSHA'])
  await client.run('', ['SCRIPT', 'FLUSH'])
  await write(uniqueName())
  t.same(commands, ['EVALSHA', 'EVAL', 'EVALSHA', 'EVAL'])
})

t.test('takes one round trip for a key that exists, also to start it again', async t => {
  const { commands, storage } = await recording(t)
  const key = uniqueName()
  const begin = async (now: number) => {
    commands.length = 0
    return storage.begin(key, 'f', now + 1000, now)
  }
  await begin(1000)
  t.same(await begin(1999), { state: 'running' })
  t.same(await begin(2000), { state: 'lost', fence: 1000 })
  t.same(commands, ['EVALSHA'])
  await storage.end(key, 1000, { state: 'done', response: '{}', expiresAt: 9000 }, 2000)
  t.same(await begin(8999), { state: 'done', response: '{}', expiresAt: 9000 })
  t.same(commands, ['EVALSHA'])
  t.same(await begin(9000), { state: 'started', fence: 9000 })
  t.same(commands, ['EVALSHA'])
  await storage.end(key, 9000, { state: 'free', expiresAt: 20_000 }, 9000)
  t.same(await begin(9000), { state: 'started', fence: 9001 })
  t.same(commands, ['EVALSHA'])
})

t.test('sets a time to live on ended records, and none on running or lost ones', async t => {
  const { connections, close } = await openRedis(1)
  t.teardown(close)
  const client = connections[0]!
  const prefix = uniqueName()
  const storage = redisIdempotency(client, { prefix })
  const ttl = async (): Promise<number> => {
    const [name] = (await client.run('', ['KEYS', `${prefix}*key`])) as string[]
    return (await client.run(name as string, ['PTTL', name as string])) as number
  }
  await storage.begin('key', 'f', 2000, 1000)
  t.equal(await ttl(), -1)
  await storage.end('key', 1000, { state: 'lost' }, 1000)
  t.equal(await ttl(), -1)
  await storage.end('key', 1000, { state: 'free', expiresAt: 61_000 }, 1000)
  const freed = await ttl()
  t.ok(freed > 600_000 && freed <= 660_000, `10 min beyond the minute, not ${freed}`)
  await storage.begin('key', 'f', 2000, 1000)
  t.equal(await ttl(), -1)
})

t.test('shares commands between the calls of one task, and fails only the broken key', async t => {
  const { connections, close } = await openRedis(1)
  t.teardown(close)
  const client = connections[0]!
  const prefix = uniqueName()
  let commands = 0
  const counting = {
    standalone: true,
    run: (key: string, command: readonly string[]) => {
      commands++
      return client.run(key, command)
    },
  }
  const storage = redisIdempotency(counting, { prefix })
  await storage.begin('broken', 'f', 2000, 1000)
  const [name] = (await client.run('', ['KEYS', `${prefix}*broken`])) as string[]
  await client.run(name!, ['DEL', name!])
  await client.run(name!, ['HSET', name!, 'a', 'b'])
  // A server that does not know a script yet takes two commands.
  await Promise.all(['first', 'second', 'third'].map(key => storage.begin(key, 'f', 2000, 1000)))
  commands = 0
  const keys = ['one', 'two', 'broken', 'three', 'two']
  const begun = await Promise.allSettled(keys.map(key => storage.begin(key, 'f', 2000, 1000)))
  t.equal(commands, 1)
  t.match(begun, [
    { value: { state: 'started' } },
    { value: { state: 'started' } },
    { status: 'rejected', reason: { code: 'ERR_STORE_UNAVAILABLE' } },
    { value: { state: 'started' } },
    { value: { state: 'running' } },
  ])
  const { reason } = begun[2] as PromiseRejectedResult
  t.match((reason as Fault).cause, /WRONGTYPE/)
})

t.test('does not treat a null reply of a script as a start', async t => {
  const { connections, close } = await openRedis(1)
  t.teardown(close)
  for (const crossSlot of [false, true]) {
    const run = async (key: string, command: readonly string[]): Promise<unknown> => {
      const [name = '', , keys] = command
      if (crossSlot && name.startsWith('EVAL') && keys !== '2') throw new Error('CROSSSLOT as in a cluster')
      const reply = await connections[0]!.run(key, command)
      if (!name.startsWith('EVAL')) return reply
      return Array.isArray(reply) ? reply.map(() => null) : null
    }
    const storage = redisIdempotency({ standalone: true, run }, { prefix: uniqueName() })
    const begun = ['first', 'second', 'third'].map(key => storage.begin(key, 'f', 2000, 1000))
    const rejected = { status: 'rejected', reason: { code: 'ERR_STORE_REPLY' } }
    t.match(await Promise.allSettled(begun), [rejected, rejected, rejected])
  }
})

t.test('refuses a clock with fractions, which records would compare wrongly', async t => {
  const { connections, close } = await openRedis(1)
  t.teardown(close)
  const storage = redisIdempotency(connections[0]!, { prefix: uniqueName() })
  await t.rejects(storage.begin('key', 'f', 2000.5, 1000.5), /whole milliseconds, not 1000.5/)
  t.match(await storage.begin('key', 'f', 2000, 1000), { state: 'started' })
  const ending = { state: 'done', response: '{}', expiresAt: 9000.5 } as const
  await t.rejects(storage.end('key', 1000, ending, 1000), /whole milliseconds, not 9000.5/)
})

t.test('starts each of 65 calls of one task, one of which does not fit the full batches', async t => {
  const { connections, close } = await openRedis(1)
  t.teardown(close)
  const sizes: unknown[] = []
  const counting: RedisClient = {
    standalone: true,
    run: (key, command) => {
      if (command[0] === 'EVALSHA') sizes.push(command[2])
      return connections[0]!.run(key, command)
    },
  }
  const storage = redisIdempotency(counting, { prefix: uniqueName() })
  const keys = Array.from({ length: 65 }, (_, index) => `key ${index}`)
  for (const each of await Promise.all(keys.map(key => storage.begin(key, 'f', 2000, 1000)))) {
    t.same(each, { state: 'started', fence: 1000 })
  }
  t.same(sizes, ['2', '64', '64'])
  const ending = { state: 'done', response: '{}', expiresAt: 9000 } as const
  for (const won of await Promise.all(keys.map(key => storage.end(key, 1000, ending, 1000))))
    t.equal(won, true)
})

t.test('sends a command for each key if the server turns out to be a cluster', async t => {
  const cluster = await startRedis(['--cluster-enabled', 'yes', '--appendonly', 'no'])
  t.teardown(cluster.stop)
  const client = createClient({ url: cluster.url })
  client.on('error', () => {})
  await client.connect()
  t.teardown(() => client.destroy())
  await client.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', '0', '16383'])
  const info = async () => (await client.sendCommand(['CLUSTER', 'INFO'])) as unknown as string
  while (!(await info()).includes('cluster_state:ok')) {
    await new Promise(resolve => setImmediate(resolve))
  }
  const storage = redisIdempotency(fromNodeRedis(client))
  const keys = Array.from({ length: 10 }, (_, index) => `key ${index}`)
  await storage.begin('key 0', 'f', 2000, 1000)
  const [name] = (await client.sendCommand(['KEYS', '*key 0'])) as unknown as string[]
  await client.sendCommand(['DEL', name!])
  await client.sendCommand(['HSET', name!, 'a', 'b'])
  const [broken, ...begun] = await Promise.allSettled(keys.map(key => storage.begin(key, 'f', 2000, 1000)))
  t.match(broken, { status: 'rejected', reason: { code: 'ERR_STORE_UNAVAILABLE', cause: /WRONGTYPE/ } })
  for (const each of begun) t.match(each, { value: { state: 'started', fence: 1000 } })
})

/** A storage over a server that replies with these values, and the commands that it gets. */
function replying(...replies: unknown[]) {
  const commands: (readonly string[])[] = []
  const run = async (_key: string, command: readonly string[]): Promise<unknown> => {
    commands.push(command)
    const reply = replies.shift()
    if (reply instanceof Error) throw reply
    return reply
  }
  return { commands, storage: redisIdempotency({ run, standalone: true }) }
}

t.test('stores a fingerprint of 43 characters as it is, and hashes others to 43 characters', async t => {
  const { commands, storage } = replying(1, 1)
  await storage.begin('key', 'f'.repeat(43), 2000, 1000)
  await storage.begin('key', 'f', 2000, 1000)
  const numbers = [1000, 2000, 1000].map(number => `${number}`.padStart(16, '0')).join('')
  t.equal(commands[0]?.[5], `r${numbers}${'f'.repeat(43)}00007["",""]00000`)
  t.match(commands[1]?.[5], /^r\d{48}[\w-]{43}00007/)
  t.not(commands[1]?.[5]?.slice(49, 92), 'f')
})

t.test('writes labels in ASCII, so that their length is the same for a script', async t => {
  const { commands, storage } = replying(1)
  await storage.begin('key', 'f', 2000, 1000, { operation: 'o', account: 'é\u007f\u{1f4b8}' })
  const label = '["o","\\u00e9\\u007f\\ud83d\\udcb8"]'
  t.ok(commands[0]?.[5]?.endsWith(`${String(label.length).padStart(5, '0')}${label}00000`))
})

t.test('keeps keys of one first letter in one hash slot with their index', async t => {
  const { commands, storage } = replying(1)
  await storage.begin('key', 'f', 2000, 1000)
  t.same(commands[0]?.slice(2, 5), ['2', 'gw:idempotency:{k}:key', 'gw:idempotency:{k}'])
})

const RECORD = `${'0'.repeat(48)}${'f'.repeat(43)}00007["",""]00000`

t.test('writes a lease of a lost run that has ended at any time, also at 0', async t => {
  const { storage } = replying(`r${RECORD}`)
  t.same(await storage.begin('key', 'f'.repeat(43), 10, 0), { state: 'lost', fence: 0 })
  const { storage: ending, commands } = replying(1)
  t.equal(await ending.end('key', 0, { state: 'lost' }, 0), true)
  t.ok(commands[0]?.includes(`r${'0'.repeat(32)}`), 'its lease ends at 0')
})

t.test('throws a fault for a record that is too short, or in an unknown state', async t => {
  for (const reply of [
    `r${RECORD.slice(0, -1)}`,
    `d${RECORD.slice(0, 100)}`,
    `x${RECORD}`,
    `r${RECORD.replace('00007', '0000x')}`,
    `r${RECORD.replace('00007', '99999')}`,
  ]) {
    const { storage } = replying(reply)
    await t.rejects(storage.begin('key', 'f'.repeat(43), 10, 0), { code: 'ERR_STORE_REPLY' }, reply)
  }
})

t.test('throws a fault for a record or a list that it cannot read', async t => {
  for (const reply of [
    7,
    'PONG',
    `f${RECORD.replace('["",""]', '["","" ')}`,
    `f${RECORD.replace('["",""]', '["",  7]')}`,
    `f${RECORD.slice(0, -5)}00001x`,
    `fx${RECORD.slice(1)}`,
  ]) {
    await t.rejects(replying(reply).storage.find('key'), { code: 'ERR_STORE_REPLY' }, `${reply}`)
  }
  for (const replies of [['PONG'], [[7]], [['0'.repeat(20)], 'PONG'], [['0'.repeat(20)], []]]) {
    const { storage } = replying(...replies)
    await t.rejects(storage.listLost({ limit: 9, now: 0 }), { code: 'ERR_STORE_REPLY' })
  }
  await t.rejects(replying(7).storage.takeOver('key', 1, 2, 1), { code: 'ERR_STORE_REPLY' })
  await t.rejects(replying(7).storage.extend('key', 1, 2, 1), { code: 'ERR_STORE_REPLY' })
})

t.test('indexes running and lost records only', async t => {
  const { client, storage } = await recording(t)
  const key = uniqueName()
  const members = async (): Promise<number> => {
    const index = `gw:idempotency:{${key[0]}}`
    const all = (await client.run(index, ['ZRANGE', index, '0', '-1'])) as string[]
    return all.filter(member => member.endsWith(key)).length
  }
  for (const ending of [
    { state: 'free', expiresAt: 9000 },
    { state: 'done', response: '{}', expiresAt: 9000 },
  ] as const) {
    const begun = await storage.begin(key, 'f', 2000, 1000)
    const { fence } = begun as { fence: number }
    t.equal(await members(), 1)
    await storage.end(key, fence, { state: 'lost' }, 1000)
    const taken = (await storage.takeOver(key, fence, 3000, 1000)) as number
    t.equal(await members(), 1)
    await storage.end(key, taken, ending, 1000)
    t.equal(await members(), 0)
  }
})

t.test('lists lost runs behind 450 others of one shard, and skips those that vanish meanwhile', async t => {
  const { connections, close } = await openRedis(1)
  t.teardown(close)
  const client = connections[0]!
  const prefix = uniqueName()
  const storage = redisIdempotency(client, { prefix })
  const keys = Array.from({ length: 451 }, (_, index) => `x${String(index).padStart(3, '0')}`)
  const label = (key: string) => ({ operation: 'o', account: key === 'x450' ? 'mine' : 'other' })
  await Promise.all(keys.map(key => storage.begin(key, 'f', key === 'x449' ? 9000 : 2000, 1000, label(key))))
  t.match(await storage.listLost({ limit: 1, now: 2000, account: 'mine' }), [{ key: 'x450' }])
  t.equal((await storage.listLost({ limit: 1000, now: 2000 })).length, 450)
  const [name] = (await client.run('', ['KEYS', `${prefix}*x000`])) as string[]
  await client.run(name!, ['DEL', name!])
  t.match(await storage.listLost({ limit: 2, now: 2000 }), [{ key: 'x001' }, { key: 'x002' }])
})

t.test('fails all calls of a batch with a reply for fewer keys or an error, and repeats none', async t => {
  for (const [reply, code] of [
    [[1], 'ERR_STORE_REPLY'],
    [{ length: 2 }, 'ERR_STORE_REPLY'],
    [new Error('READONLY a replica'), 'ERR_STORE_UNAVAILABLE'],
    ['OK', 'ERR_STORE_REPLY'],
  ] as const) {
    const { storage, commands } = replying(1, reply)
    const begun = ['a', 'b', 'c'].map(key => storage.begin(key, 'f', 2000, 1000))
    const rejected = { status: 'rejected', reason: { code } }
    t.match(await Promise.allSettled(begun), [{ value: { state: 'started' } }, rejected, rejected])
    t.equal(commands.length, 2)
  }
})

t.test('sends a response of more than 16 KiB in a command of its own, and collects nothing', async t => {
  const sizes: number[] = []
  const run = async (_key: string, command: readonly string[]): Promise<unknown> => {
    const size = Number(command[2])
    sizes.push(size)
    return size === 2 ? 1 : Array.from({ length: size / 2 }, () => 1)
  }
  const storage = redisIdempotency({ run, standalone: true })
  const ends = [1, 16_385, 16_384, 1].map((length, index) =>
    storage.end(`${index}`, 1000, { state: 'done', response: 'x'.repeat(length), expiresAt: 9000 }, 1000),
  )
  t.same(await Promise.all(ends), [true, true, true, true])
  t.same(sizes, [2, 2, 4])
  t.equal(await storage.collect(9, 9000), 0)
})
