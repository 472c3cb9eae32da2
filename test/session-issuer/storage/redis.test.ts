import { FEED_START, GRACE_MS, redisFeed } from '@gatewright/kernel'
import { redisCredentials } from '@gatewright/session-issuer/redis'
import {
  auditContract,
  keyStorageContract,
  keyStorageFaults,
  sessionStorageContract,
  sessionStorageFaults,
} from '@gatewright/session-issuer/testing'
import {
  auditEntry,
  childOf,
  keyRecord,
  policyIdOf,
  sessionRecord,
} from '#packages/session-issuer/dist/testing/sample-records.js'
import { fromIoredis } from '@gatewright/kernel/redis'
import t from 'tap'
import { IOREDIS_SETTINGS } from '../../harness/databases/client-settings.ts'
import { faultyRedis, faultyStores } from '../../harness/databases/faulty.ts'
import { runner } from '../../harness/runner.ts'
import { openRedis, uniqueName } from '../../harness/stores.ts'
import { readRedisFeed } from '../feeds.ts'

async function open() {
  const prefix = `${uniqueName()}:`
  const { connections, close } = await openRedis(5)
  const [reader, ...writers] = connections
  const stores = writers.map(client => redisCredentials(client, { prefix }))
  return {
    stores,
    readFeed: (positions: readonly number[]) => readRedisFeed(reader!, positions, prefix),
    close,
  }
}

keyStorageContract(runner, 'Redis', async () => {
  const { stores, ...rest } = await open()
  return { connections: stores.map(store => store.keys), ...rest }
})

sessionStorageContract(runner, 'Redis', async () => {
  const { stores, ...rest } = await open()
  return { connections: stores.map(store => store.sessions), expiresNatively: true, ...rest }
})

auditContract(runner, 'Redis', async () => {
  const { stores, close } = await open()
  return { connections: stores, close }
})

keyStorageFaults(runner, 'Redis', () => faultyStores(faultyRedis(), client => redisCredentials(client).keys))

sessionStorageFaults(runner, 'Redis', () =>
  faultyStores(faultyRedis(), client => redisCredentials(client).sessions),
)

t.test('refuses a prefix with braces, because the lanes would be in one slot', async t => {
  const { connections, close } = await openRedis(1)
  t.teardown(close)
  for (const prefix of ['{gw}:', 'gw}', '{'])
    t.throws(() => redisCredentials(connections[0]!, { prefix }), {
      name: 'TypeError',
      message: /prefix must contain no braces, because each lane has a hash tag of its own/,
    })
})

t.test('each method is one round trip, and every key of a session expires by itself', async t => {
  const { connections, close } = await openRedis(1)
  t.teardown(close)
  const prefix = `${uniqueName()}:`
  const commands: string[] = []
  const client = {
    run: (key: string, command: readonly string[]) => {
      commands.push(command[0] as string)
      return connections[0]!.run(key, command)
    },
  }
  const { keys, sessions, audit } = redisCredentials(client, { prefix })
  const root = sessionRecord()
  const child = sessionRecord({ accountId: root.accountId, ancestry: [root.sessionId] })
  const policy = { id: policyIdOf(root.accountId), document: {} }
  const key = keyRecord('account')
  const commit = { keys: [key], policies: [], feed: [] }
  const verbs: (() => Promise<unknown>)[] = [
    () => keys.commit('account', 0, { ...commit, audit: [auditEntry('account')] }),
    () => keys.find(key.id),
    () => keys.load('account'),
    () => keys.touch([{ id: key.id, at: 1 }]),
    () => sessions.insert(root, [policy]),
    () => sessions.insert(child, [], auditEntry(root.accountId)),
    () => audit.list('account', 10, { at: Infinity, id: 'x' }),
    () => sessions.find(root.sessionId),
    () => sessions.list(root.accountId, 10, root.issuedAt),
    () => sessions.revoke(child.sessionId, root.issuedAt),
    () => sessions.revokeAccount(root.accountId, 10, root.issuedAt),
  ]
  for (const verb of verbs) {
    // Called twice, because a script that the server does not know yet costs a second round trip.
    for (let again = 0; again < 2; again++) {
      commands.length = 0
      await verb()
    }
    t.equal(commands.length, 1, String(verb))
  }
  const all = (await client.run(prefix, ['KEYS', `{${prefix}*`])) as string[]
  const ending = all.filter(name => /:(session|sessions|minted|session-policy|audit):/.test(name))
  // Two sessions, the set of those minted from one, its policy, and the audit rows of two accounts; the account's set
  // expired with its last live session.
  t.equal(ending.length, 6)
  for (const name of ending) t.ok(Number(await client.run(name, ['PTTL', name])) > 0, name)
})

t.test('positions of the feed never go back, also after a failover to a replica that lags', async t => {
  const prefix = `${uniqueName()}:`
  const { connections, close } = await openRedis(1)
  t.teardown(close)
  const [client] = connections
  const { keys } = redisCredentials(client!, { prefix })
  let revision = 0
  let place = { lane: 0, position: 0 }
  const revoke = async (id: string): Promise<number> => {
    const feed = [{ kind: 'key', id, version: 2, at: 1 }] as const
    t.equal(await keys.commit('account', revision++, { keys: [], policies: [], feed }), true)
    place = (await readRedisFeed(client!, FEED_START, prefix)).at(-1)!
    return place.position
  }
  await revoke('before')
  const stream = redisFeed(prefix).streams[place.lane] as string
  const copied = async (key: string) => client!.run(key, ['GET', key])
  const replica = String(await copied(`${stream}:position`))
  const read = await revoke('lost by the failover')
  // A failover takes longer than the millisecond in which these revocations may all happen.
  const time = async () => {
    const [seconds, microseconds] = (await client!.run(stream, ['TIME'])) as [string, string]
    return Number(seconds) * 1000 + Number(microseconds) / 1000
  }
  while ((await time()) <= read + 1);
  await client!.run(stream, ['DEL', stream])
  await client!.run(stream, ['SET', `${stream}:position`, replica])
  t.ok((await revoke('after')) > read, 'a guard that has read the lost entry still sees the next one')
})

t.test('finds all that is stored by a client that puts a prefix before each key', async t => {
  const { client: redis, close } = await IOREDIS_SETTINGS['ioredis, keyPrefix']!()
  t.teardown(close)
  const client = fromIoredis(redis)
  const prefix = `${uniqueName()}:`
  const { keys, sessions, audit } = redisCredentials(client, { prefix })
  const root = sessionRecord()
  const child = sessionRecord({ accountId: root.accountId, ancestry: [root.sessionId] })
  const policy = { id: policyIdOf(root.accountId), document: { a: 1 } }
  t.equal(await sessions.insert(root, [policy], auditEntry(root.accountId)), true)
  t.equal(await sessions.insert(child, []), true)
  t.same(await sessions.policies([policy.id]), [policy])
  t.equal((await sessions.list(root.accountId, 9, root.issuedAt)).length, 2)
  t.equal((await audit.list(root.accountId, 9, { at: Infinity })).length, 1)
  const key = keyRecord(root.accountId)
  t.equal(await keys.commit(root.accountId, 0, { keys: [key], policies: [], feed: [] }), true)
  await keys.touch([{ id: key.id, at: 7 }])
  t.same((await keys.load(root.accountId)).keys, [{ ...key, lastUsedAt: 7 }])
  t.equal(await sessions.revoke(root.sessionId, root.issuedAt), 2)
  t.equal((await readRedisFeed(client, FEED_START, prefix)).length, 2)
  t.match(await sessions.find(child.sessionId), { revokedAt: root.issuedAt })
})

t.test('throws a fault for replies that it cannot read', async t => {
  const replying = (reply: unknown) => redisCredentials({ run: async () => reply })
  const fault = { name: 'Fault', code: 'ERR_STORE_REPLY' }
  const nothing = { keys: [], policies: [], feed: [] }
  for (const reply of [null, 'x', [null, null, null], ['{}', null, null, null], ['{}', 'd', 'p', '', 'x']])
    await t.rejects(replying(reply).keys.find('k'), fault, JSON.stringify(reply))
  for (const reply of [null, [], ['x'], ['-1'], ['0', ['{}', 'd', 'p']]])
    await t.rejects(replying(reply).keys.load('a'), fault, JSON.stringify(reply))
  for (const reply of [null, 2, '1']) {
    await t.rejects(replying(reply).keys.commit('a', 0, nothing), fault)
    if (reply === 2) continue
    await t.rejects(replying(reply).keys.collect(1, 0), fault)
    await t.rejects(replying(reply).sessions.revoke('s', 0), fault)
  }
  for (const reply of [null, [], [null, null]]) await t.rejects(replying(reply).keys.policies(['p']), fault)
  for (const reply of [null, 'x', [7]]) await t.rejects(replying(reply).sessions.list('a', 1, 0), fault)
  await t.rejects(replying(7).sessions.find('s'), fault)
  for (const reply of [null, [], [[]], [[], null], [null, []], [['{'], []]])
    await t.rejects(replying(reply).audit.list('a', 1, { at: 0 }), fault, JSON.stringify(reply))
  t.equal(
    await replying(null)
      .keys.find('k')
      .catch(() => 'a fault'),
    'a fault',
  )
  t.equal(await replying([null, null, null, null]).keys.find('k'), undefined)
  t.equal(await replying(null).audit.collect(1, 0), 0)
})

t.test('keeps the keys of a session for its life and the grace after it, and no longer', async t => {
  const { connections, close } = await openRedis(1)
  t.teardown(close)
  const [client] = connections
  const prefix = `${uniqueName()}:`
  const { sessions } = redisCredentials(client!, { prefix })
  const root = sessionRecord({ issuedAt: 1000, expiresAt: 61_000 })
  const child = { ...childOf(root), issuedAt: root.issuedAt }
  await sessions.insert(root, [{ id: policyIdOf(root.accountId), document: {} }])
  await sessions.insert(child, [])
  const names = (await client!.run(prefix, ['KEYS', `{${prefix}*`])) as string[]
  t.equal(names.length, 5)
  for (const name of names) {
    const left = Number(await client!.run(name, ['PTTL', name]))
    t.ok(left <= 60_000 + GRACE_MS && left > 60_000 + GRACE_MS - 10_000, `${name}: ${left} ms`)
  }
})

t.test('revokes no more sessions of an account than the limit behind others that were revoked', async t => {
  const { connections, close } = await openRedis(1)
  t.teardown(close)
  const { sessions } = redisCredentials(connections[0]!, { prefix: `${uniqueName()}:` })
  const all = Array.from({ length: 8 }, (_, n) =>
    sessionRecord({ accountId: 'acc', expiresAt: sessionRecord().expiresAt + n }),
  )
  for (const one of all) await sessions.insert(one, [])
  const now = all[0]!.issuedAt
  for (const one of all.slice(0, 2)) await sessions.revoke(one.sessionId, now)
  t.equal(await sessions.revokeAccount('acc', 3, now), 3)
  t.equal((await sessions.list('acc', 10, now)).length, 3)
})
