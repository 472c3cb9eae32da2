// A client decides when the last byte of its body arrives. A key that ended meanwhile must not be usable.
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { manualClock } from '@gatewright/kernel/testing'
import { rows } from '@gatewright/kernel/sql'
import { toText } from '@gatewright/kernel/internal/sql'
import t, { type Test } from 'tap'
import { openDatabaseOf } from '../../../harness/database-rows.ts'
import { gatewright, jsonOf } from '../../../harness/gatewright.ts'
import { keptHostStoresEnv } from '../../../harness/host-stores.ts'
import { bootstrapUser, startTestHost, type TestHost } from '../../../harness/host.ts'

const HOUR = 3_600_000
const WALLET = `0x${'1'.repeat(40)}`

/** Keys of a partner, and a host on their stores. On the embedded database, commands run only while no host does. */
async function open(t: Test, { env = {}, rotates = false } = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'gatewright-credentials-'))
  const stores = await keptHostStoresEnv()
  const all = { ...stores.env, DATA_DIR: dataDir, ...env }
  const command = async (...args: string[]): Promise<Record<string, string>> =>
    jsonOf(await gatewright(['partner-keys', ...args, '--json'], all))
  const { key = '', keyId = '' } = await command('create', 'Acme')
  const successor = rotates ? await command('rotate', keyId, '--overlap', '3600') : undefined
  const clock = manualClock(Date.now())
  const host = await startTestHost(all, clock)
  t.teardown(async () => {
    await host.close()
    await stores.drop()
    rmSync(dataDir, { recursive: true, force: true })
  })
  return { host, clock, env: all, key, keyId, successor: successor?.['key'] ?? '' }
}

/** Moves the monotonic clock by `advance()` ms at each reading. */
function bendTime(t: Test, advance: () => number): void {
  const monotonic = performance.now.bind(performance)
  let advanced = 0
  performance.now = () => monotonic() + (advanced += advance())
  t.teardown(() => Reflect.deleteProperty(performance, 'now'))
}

interface HeldRequest {
  readonly method?: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: object
}

/** Sends a request without the last byte of its body until its key is checked, and returns the function that sends that byte. */
async function holdBack(host: TestHost, held: HeldRequest): Promise<() => Promise<number>> {
  const { method = 'POST', path, headers } = held
  const text = JSON.stringify(held.body)
  const client = httpRequest(host.url + path, {
    method,
    headers: { ...headers, 'content-type': 'application/json', 'content-length': text.length },
  })
  const response = once(client, 'response')
  await new Promise(resolve => client.write(text.slice(0, -1), resolve))
  // Whole requests with the same key, sent later: when their responses are there, the first one is checked.
  for (let n = 0; n < 3; n++) await host.send(path, { method, headers, body: {} })
  return async () => {
    client.end(text.slice(-1))
    const [{ statusCode = 0 }] = (await response) as [IncomingMessage]
    client.destroy()
    return statusCode
  }
}

for (const [path, more] of [
  ['/partner/v1/users/resolve', {}],
  ['/partner/v1/sessions', { scopes: ['cards.read'] }],
] as const) {
  t.test(`a partner key that ends before the last byte of a body creates no user: ${path}`, async t => {
    const { host, clock, key, keyId, successor } = await open(t, { rotates: true })
    let late = 0
    bendTime(t, () => late)
    const headers = { 'x-partner-key': key }
    const body = { userId: 'ann', walletAddress: WALLET, ...more }
    const end = await holdBack(host, { path, headers, body })
    clock.advance(HOUR)
    late = 100
    t.equal(await end(), 401)
    t.match(host.decisions.at(-1), { keyId, code: 'unauthorized' })
    const asked = { body: { userId: 'ann' }, headers: { 'x-partner-key': successor } }
    const resolved = await host.send('/partner/v1/users/resolve', asked)
    t.match(resolved.body.data, { walletAddress: null, createdAt: new Date(clock.now()).toISOString() })
  })
}

t.test('a key that is still live at the last byte of a late body runs its handler', async t => {
  const { host, key } = await open(t)
  bendTime(t, () => 100)
  const headers = { 'x-partner-key': key }
  const request = { path: '/partner/v1/users/resolve', headers, body: { userId: 'ann' } }
  t.equal(await (await holdBack(host, request))(), 200)
})

for (const [title, method, change] of [
  ['is revoked', 'DELETE', undefined],
  ['loses scopes', 'PATCH', { scopes: ['cards.read'] }],
] as const)
  t.test(`a user key that ${title} before the last byte of a body mints no session`, async t => {
    const { host } = await open(t)
    const { key, token } = await bootstrapUser(host.send)
    let late = 0
    bendTime(t, () => late)
    const headers = { 'x-user-key': key }
    const end = await holdBack(host, { path: '/user/v1/sessions', headers, body: { ttlSeconds: 300 } })
    const [, keyId] = /^gw_sandbox_user_(.{16})/.exec(key) as unknown as [string, string]
    const changed = await host.send(`/user/v1/keys/${keyId}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      body: change,
    })
    t.equal(changed.status, 200)
    late = 100
    t.equal(await end(), 401)
  })

t.test(
  'a user key in place of a session is read again when the feed is too old to report its end',
  async t => {
    const { host, env, clock } = await open(t, { env: { DIRECT_USER_KEY: 'on' } })
    const { key } = await bootstrapUser(host.send)
    const keyId = /^gw_sandbox_user_(.{16})/.exec(key)?.[1] as string
    const held = {
      method: 'PATCH',
      path: '/user/v1/users',
      headers: { 'x-user-key': key },
      body: { displayName: 'Late' },
    }
    // Between any two readings of the clock more time passes than a feed is relied on.
    bendTime(t, () => 2000)
    const [live, revoked] = [await holdBack(host, held), await holdBack(host, held)]
    t.equal(await live(), 200)
    const { db, close } = openDatabaseOf(env)
    const [row] = await rows(db, 'select record from gw_keys where id = $1', [keyId])
    const record = { ...(JSON.parse(toText(row?.['record'])) as object), revokedAt: clock.now() }
    await rows(db, 'update gw_keys set record = $1 where id = $2', [JSON.stringify(record), keyId])
    await close()
    t.equal(await revoked(), 401)
    t.match(host.decisions.at(-1), { keyId, reason: 'revoked' })
  },
)
