// Every use of an API key is checked against the key's whole policy chain, whatever operation it is used for.
import t from 'tap'
import { gatewright, jsonOf } from '../harness/gatewright.ts'
import { bearer, bootstrapUser, openTestHost, type HttpResponse, type TestHost } from '../harness/host.ts'
import { sampleOf } from '../harness/random-cases.ts'
import { temporaryFolder } from '../harness/files.ts'

interface OperationDescription {
  readonly operationId: string
  readonly security: Record<string, unknown>[]
}

/** A use of a key: the operation's id, and how it is called. */
interface KeyUse {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly side: 'user' | 'partner'
}

/**
 * Every operation and path that accepts an API key. With `DIRECT_USER_KEY`, that includes everything that
 * accepts a user session.
 */
async function keyUses(host: TestHost): Promise<KeyUse[]> {
  const { body } = await host.send('/openapi.json')
  const paths = Object.entries(body['paths'] as Record<string, Record<string, OperationDescription>>)
  return paths.flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { operationId, security }]): KeyUse[] => {
      const schemes = security.flatMap(Object.keys)
      const [tag, verb] = operationId.split('_') as [string, string]
      const use = {
        id: `${tag}.${verb}`,
        method: method.toUpperCase(),
        path: path.replaceAll(/\{\w+\}/g, 'any'),
      }
      if (schemes.includes('PartnerKey')) return [{ ...use, side: 'partner' }]
      const byUser = schemes.includes('UserKey') || schemes.includes('UserSessionBearer')
      return byUser ? [{ ...use, side: 'user' }] : []
    }),
  )
}

/** Policies that forbid every use of a key, by the rule that the denial names. */
const CLOSED: Readonly<Record<string, (ids: readonly string[]) => object>> = {
  allowedIps: () => ({ allowedIps: ['203.0.113.9'] }),
  notAfter: () => ({ notAfter: '2020-01-01T00:00:00Z' }),
  notBefore: () => ({ notBefore: '2100-01-01T00:00:00Z' }),
  denyOperations: ids => ({ denyOperations: ids }),
  allowOperations: () => ({ allowOperations: ['cards.unheardOf'] }),
}

const dataDir = temporaryFolder(t)
const partnerKey = async (policy?: object): Promise<string> => {
  const more = policy ? ['--policy', JSON.stringify(policy)] : []
  const command = ['partner-keys', 'create', 'Acme', '--json', ...more]
  return jsonOf<{ key: string }>(await gatewright(command, { DATA_DIR: dataDir })).key
}
const PARTNER_OPERATIONS = ['users.resolve', 'sessions.createForPartner', 'notifications.events']
const partnerKeys: Record<string, string> = {}
for (const [rule, policy] of Object.entries(CLOSED))
  partnerKeys[rule] = await partnerKey(policy(PARTNER_OPERATIONS))
const openPartnerKey = await partnerKey()

const host = await openTestHost(t, { DATA_DIR: dataDir, DIRECT_USER_KEY: 'on' })
const uses = await keyUses(host)
const use = ({ method, path, side }: KeyUse, key: string): Promise<HttpResponse> =>
  host.send(path, {
    method,
    headers: { [`x-${side}-key`]: key, 'idempotency-key': 'policy-of-a-key' },
    ...(method === 'GET' || method === 'DELETE' ? {} : { body: {} }),
  })

t.test('the table lists the operations that accept a key', async t => {
  const ids = new Set(uses.map(({ id }) => id))
  for (const id of [
    'keys.rotate',
    'sessions.create',
    'keys.create',
    'subscriptions.payin',
    ...PARTNER_OPERATIONS,
  ]) {
    t.ok(ids.has(id), id)
  }
})

for (const [at, [rule, policyFor]] of Object.entries(CLOSED).entries()) {
  t.test(`a key that ${rule} forbids is denied by every operation that accepts a key`, async t => {
    const userPolicy = policyFor([...new Set(uses.filter(({ side }) => side === 'user').map(({ id }) => id))])
    const { key } = await bootstrapUser(host.send, { policy: userPolicy })
    const allowed: string[] = []
    // Each rule is tried with other operations than the next.
    for (const one of sampleOf([...uses.slice(at), ...uses.slice(0, at)])) {
      const { status, body } = await use(one, one.side === 'user' ? key : (partnerKeys[rule] as string))
      if (status !== 403 || body['error'] !== 'policy_blocked' || body['rule'] !== rule)
        allowed.push(`${one.method} ${one.path}: ${status}`)
    }
    t.same(allowed, [])
  })
}

t.test('a key without policies is denied by no policy', async t => {
  const { key } = await bootstrapUser(host.send)
  const denied: string[] = []
  for (const one of sampleOf(uses)) {
    const { status, body } = await use(one, one.side === 'user' ? key : openPartnerKey)
    // No response contains the data key, whoever the caller is.
    const byPolicy = body['error'] === 'policy_blocked' && body['rule'] !== 'data_key_never_leaves'
    if (byPolicy || status === 401) denied.push(`${one.method} ${one.path}: ${status}`)
  }
  t.same(denied, [])
})

t.test('a stolen key that is limited to an address can neither rotate itself nor mint sessions', async t => {
  const owner = await bootstrapUser(host.send, { policy: { allowedIps: ['198.51.100.7'] } })
  const at = (address: string): Record<string, string> => ({
    'x-forwarded-for': address,
    'x-user-key': owner.key,
  })
  const rotate = `/user/v1/keys/${owner.key.slice('gw_sandbox_user_'.length).slice(0, 16)}/rotate`
  for (const path of [rotate, '/user/v1/sessions', '/consumer/v1/sessions']) {
    const response = await host.send(path, { body: {}, headers: at('203.0.113.66') })
    t.match(response, { status: 403, body: { error: 'policy_blocked', rule: 'allowedIps' } }, path)
  }
  t.equal((await host.send('/user/v1/sessions', { body: {}, headers: at('198.51.100.7') })).status, 200)
  t.equal((await host.send(rotate, { body: {}, headers: at('198.51.100.7') })).status, 200)
})

t.test('applies the policies of every parent key, and counts calls', async t => {
  const parent = await bootstrapUser(host.send, {
    policy: { limits: [{ operations: ['sessions.create'], maxCount: 2, window: 'day' }] },
  })
  const made = await host.send('/user/v1/keys', { body: {}, headers: bearer(parent.token) })
  const mint = (): Promise<HttpResponse> =>
    host.send('/user/v1/sessions', {
      body: {},
      headers: { 'x-user-key': made.body['userApiKey'] as string },
    })
  t.equal((await mint()).status, 200)
  t.equal((await mint()).status, 200)
  t.match(await mint(), { status: 403, body: { error: 'policy_blocked' } })
})

t.test('limits rotation like minting, and a successor inherits the used limit', async t => {
  const tight = await openTestHost(t, { RATE_LIMITS: '{"mintsPerKeyPerMinute":3}' })
  let { key } = await bootstrapUser(tight.send)
  const rotate = (): Promise<HttpResponse> =>
    tight.send(`/user/v1/keys/${key.slice('gw_sandbox_user_'.length).slice(0, 16)}/rotate`, {
      body: {},
      headers: { 'x-user-key': key },
    })
  for (let n = 0; n < 3; n++) {
    const response = await rotate()
    t.equal(response.status, 200)
    key = response.body['userApiKey'] as string
  }
  t.match(await rotate(), { status: 429, body: { error: 'rate_limited', limit: 'mintsPerKeyPerMinute' } })
})

t.test('counts every use of a key against a limit, reads of partners included', async t => {
  const tight = await openTestHost(t, { RATE_LIMITS: '{"guardedPerKeyPerMinute":3}' })
  const resolve = (): Promise<HttpResponse> =>
    tight.send('/partner/v1/users/resolve', {
      body: { userId: 'ann' },
      headers: { 'x-partner-key': tight.partnerKey },
    })
  for (let n = 0; n < 3; n++) t.equal((await resolve()).status, 200)
  t.match(await resolve(), { status: 429, body: { error: 'rate_limited', limit: 'usesPerKeyPerMinute' } })
})

t.test('reports no failure for any of these requests', async t => t.same(host.failures, []))
