import { fromIoredis, fromNodeRedis, type RedisClient } from '@gatewright/kernel/redis'
import { redisScript, runScript, type RedisScript } from '@gatewright/kernel/internal/redis'
import { Cluster, Redis } from 'ioredis'
import { createHash } from 'node:crypto'
import { faultProxy } from '@gatewright/kernel/testing'
import { createClient } from 'redis'
import t from 'tap'
import { uniqueName } from '../../harness/stores.ts'

const url = process.env['TEST_REDIS_URL'] as string

/** A client that records its commands. */
interface RecordingClient {
  readonly client: RedisClient
  readonly commands: string[]
  close(): unknown
}

function recording(client: RedisClient, close: RecordingClient['close']): RecordingClient {
  const commands: string[] = []
  const run: RedisClient['run'] = (key, command) => {
    commands.push(command[0] as string)
    return client.run(key, command)
  }
  return { client: { run }, commands, close }
}

/** No other test has this script, so the server does not know it until this test sends it. */
const uniqueScript = (): RedisScript =>
  redisScript(`-- ${uniqueName()}\nreturn {KEYS[1], ARGV[1], redis.call('incr', KEYS[1])}`)

async function openIoredis(at: string): Promise<RecordingClient> {
  const client = new Redis(at, { lazyConnect: true, enableOfflineQueue: false, maxRetriesPerRequest: 0 })
  client.on('error', () => {})
  await client.connect()
  return recording(fromIoredis(client), () => client.disconnect())
}

const recipes: Record<string, () => Promise<RecordingClient>> = {
  'node-redis': async () => {
    const client = createClient({ url, disableOfflineQueue: true })
    client.on('error', () => {})
    await client.connect()
    return recording(fromNodeRedis(client), () => client.destroy())
  },
  ioredis: () => openIoredis(url),
}

for (const [name, open] of Object.entries(recipes)) {
  t.test(`${name}: runs a command and returns its reply`, async t => {
    const { client, close } = await open()
    t.teardown(close)
    const key = uniqueName()
    t.equal(await client.run(key, ['SET', key, 'välue\u0000\r\n', 'PX', '60000']), 'OK')
    t.equal(await client.run(key, ['GET', key]), 'välue\u0000\r\n')
    t.equal(await client.run(key, ['DEL', key]), 1)
    t.equal(await client.run(key, ['GET', key]), null)
  })

  t.test(`${name}: sends the text of a script once, and its SHA-1 from then on`, async t => {
    const { client, commands, close } = await open()
    t.teardown(close)
    const [script, key] = [uniqueScript(), uniqueName()]
    t.same(await runScript(client, script, key, ['one']), [key, 'one', 1])
    t.same(commands, ['EVALSHA', 'EVAL'])
    t.same(await runScript(client, script, key, ['two']), [key, 'two', 2])
    t.same(commands, ['EVALSHA', 'EVAL', 'EVALSHA'])
    await client.run(key, ['DEL', key])
  })

  t.test(
    `${name}: runs a script that the server does not know exactly once for each of 20 simultaneous calls`,
    async t => {
      const { client, close } = await open()
      t.teardown(close)
      const [script, key] = [uniqueScript(), uniqueName()]
      const replies = await Promise.all(
        Array.from({ length: 20 }, () => runScript(client, script, key, ['x'])),
      )
      const counts = replies.map(reply => (reply as [string, string, number])[2])
      t.same(
        counts.toSorted((a, b) => a - b),
        Array.from({ length: 20 }, (_, index) => index + 1),
      )
      await client.run(key, ['DEL', key])
    },
  )

  t.test(`${name}: throws a fault when a script fails, and does not run it again`, async t => {
    const { client, commands, close } = await open()
    t.teardown(close)
    const script = redisScript(`-- ${uniqueName()}\nreturn redis.error_reply('LATER ' .. ARGV[1])`)
    await t.rejects(runScript(client, script, uniqueName(), ['on']), {
      name: 'Fault',
      code: 'ERR_STORE_UNAVAILABLE',
      cause: { message: /^LATER on/ },
    })
    t.same(commands, ['EVALSHA', 'EVAL'])
    await t.rejects(runScript(client, script, uniqueName(), ['on']), { name: 'Fault' })
    t.same(commands, ['EVALSHA', 'EVAL', 'EVALSHA'])
  })

  t.test(`${name}: throws a fault when the client is closed`, async t => {
    const { client, close } = await open()
    await close()
    await t.rejects(runScript(client, uniqueScript(), uniqueName(), ['x']), {
      name: 'Fault',
      code: 'ERR_STORE_UNAVAILABLE',
    })
  })
}

t.test('computes the SHA-1 of a script as the server does', async t => {
  const script = redisScript('return 1')
  t.equal(script.sha1, createHash('sha1').update('return 1').digest('hex'))
  const { client, close } = await (recipes['node-redis'] as () => Promise<RecordingClient>)()
  t.teardown(close)
  t.equal(await client.run('', ['SCRIPT', 'LOAD', script.lua]), script.sha1)
})

t.test('ioredis: sends no command again whose reply was lost', async t => {
  const proxy = await faultProxy(url)
  const { client, close } = await openIoredis(proxy.url)
  t.teardown(async () => {
    close()
    await proxy.close()
  })
  const key = uniqueName()
  proxy.harm = 'cutAfter'
  const lost = client.run(key, ['INCR', key])
  await t.rejects(lost)
  const { client: healthy, close: closeHealthy } = await openIoredis(url)
  t.teardown(closeHealthy)
  t.equal(await healthy.run(key, ['GET', key]), '1')
})

t.test('ioredis: rejects clients that send commands again', t => {
  for (const [client, option] of [
    [new Redis({ lazyConnect: true }), 'maxRetriesPerRequest must be 0, got 20'],
    [new Cluster([], { lazyConnect: true }), 'retryDelayOnFailover must be 0, got 100'],
  ] as const)
    t.throws(() => fromIoredis(client), { name: 'TypeError', message: new RegExp(option) })
  t.end()
})

t.test('ioredis: rejects a Cluster whose nodes connect again and send commands again', t => {
  const open = (redisOptions: { maxRetriesPerRequest?: number | null }): Cluster =>
    new Cluster([], {
      lazyConnect: true,
      retryDelayOnFailover: 0,
      redisOptions,
      clusterNodeRetryStrategy: () => 50,
    })
  for (const [options, got] of [
    [{}, 'undefined'],
    [{ maxRetriesPerRequest: 20 }, '20'],
    [{ maxRetriesPerRequest: null }, 'null'],
  ] as const)
    t.throws(() => fromIoredis(open(options)), {
      name: 'TypeError',
      message: new RegExp(`redisOptions.maxRetriesPerRequest must be 0, got ${got}`),
    })
  t.equal(fromIoredis(open({ maxRetriesPerRequest: 0 })).standalone, false)
  t.end()
})

t.test('ioredis: rejects clients whose replies cannot be read, or may be older than what was written', t => {
  const once = { lazyConnect: true, maxRetriesPerRequest: 0 } as const
  const nodes = { lazyConnect: true, retryDelayOnFailover: 0 } as const
  for (const [client, message] of [
    [new Redis({ ...once, stringNumbers: true }), /stringNumbers must be false, got true/],
    [new Cluster([], { ...nodes, redisOptions: { stringNumbers: true } }), /stringNumbers must be false/],
    [new Cluster([], { ...nodes, scaleReads: 'slave' }), /scaleReads must be "master"/],
    [new Cluster([], { ...nodes, scaleReads: () => [] }), /scaleReads must be "master"/],
  ] as const)
    t.throws(() => fromIoredis(client), { name: 'TypeError', message })
  t.equal(fromIoredis(new Redis({ ...once, keyPrefix: 'app:' })).keyPrefix, 'app:')
  t.end()
})
