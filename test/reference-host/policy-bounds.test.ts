// What a client may make the host store, compile and count by its policies.
import t from 'tap'
import { gatewright } from '../harness/gatewright.ts'
import {
  bearer,
  bootstrapUser,
  newWallet,
  signedBootstrap,
  openTestHost,
  type HttpResponse,
} from '../harness/host.ts'
import { temporaryFolder } from '../harness/files.ts'

const host = await openTestHost(t)

const limitsOn = (count: number, operation: (index: number) => string) => ({
  limits: Array.from({ length: count }, (_, index) => ({
    operations: [operation(index)],
    window: 'day',
    maxCount: 100,
  })),
})
/** A policy of so many bytes of JSON, about 8192. */
function policyOf(bytes: number): object {
  const entries = Array<string>(78).fill(`tag.${'x'.repeat(94)}`)
  // Four more entries, each with two quotes and a comma.
  const rest = bytes - JSON.stringify({ denyOperations: entries }).length - 12
  const lengths = [0, 1, 2, 3].map(index => Math.floor((rest + index) / 4))
  const policy = { denyOperations: [...entries, ...lengths.map(length => `t.${'x'.repeat(length - 2)}`)] }
  if (JSON.stringify(policy).length !== bytes) throw new Error('the policy has another size')
  return policy
}
const [LARGEST, TOO_LARGE] = [policyOf(8192), policyOf(8193)]

/** Sends each request that can bring a policy. */
const WRITES: Readonly<Record<string, (policy: object) => Promise<HttpResponse>>> = {
  'bootstrap, of the key': async policy =>
    host.send('/user/v1/bootstrap', { body: await signedBootstrap(newWallet(), { policy }) }),
  'bootstrap, of the session': async sessionPolicy =>
    host.send('/user/v1/bootstrap', { body: await signedBootstrap(newWallet(), { sessionPolicy }) }),
  'a key created': async policy => {
    const { token } = await bootstrapUser(host.send)
    return host.send('/user/v1/keys', { body: { policy }, headers: bearer(token) })
  },
  'a key changed': async policy => {
    const { token } = await bootstrapUser(host.send)
    const { body } = await host.send('/user/v1/keys', { body: {}, headers: bearer(token) })
    const path = `/user/v1/keys/${body['userKeyId'] as string}`
    return host.send(path, { method: 'PATCH', body: { policy }, headers: bearer(token) })
  },
  'a session created': async policy => {
    const { token } = await bootstrapUser(host.send)
    return host.send('/user/v1/sessions', { body: { policy }, headers: bearer(token) })
  },
}

for (const [name, send] of Object.entries(WRITES)) {
  void t.test(`${name}: a policy has at most 8192 bytes and 16 limits`, async t => {
    const field = name.endsWith('of the session') ? 'sessionPolicy' : 'policy'
    t.match(await send(LARGEST), { status: 200 })
    t.match(await send(TOO_LARGE), { status: 400, body: { error: 'invalid_request', field } })
    t.match(await send(limitsOn(16, index => `a.b${index}`)), { status: 200 })
    t.match(await send(limitsOn(17, index => `a.b${index}`)), {
      status: 400,
      body: { error: 'invalid_request', field: `${field}.limits` },
    })
  })
}

t.test('a misspelt member that is named policy keeps its whole path', async t => {
  const { token } = await bootstrapUser(host.send)
  const denied = await host.send('/user/v1/keys', {
    body: { policy: { policy: {} } },
    headers: bearer(token),
  })
  t.match(denied, { status: 400, body: { field: 'policy.policy' } })
})

t.test(
  'a bootstrap whose two policies make too long a chain stores nothing, and its statement stays usable',
  async t => {
    const caps = { dailySpendCapCents: 1, dailyWithdrawalCapCents: 1 }
    const policy = { ...caps, ...limitsOn(16, index => `a.${'b.'.repeat(index)}*`) }
    const same = limitsOn(16, index => `a.${'b.'.repeat(index)}*`)
    const wallet = newWallet()
    const statement = await signedBootstrap(wallet, { policy: {} })
    const tooMany = { ...statement, policy, sessionPolicy: { ...caps, ...same } }
    const denied = await host.send('/user/v1/bootstrap', { body: tooMany })
    t.match(denied, { status: 400, body: { error: 'invalid_request', field: 'sessionPolicy' } })
    t.match(denied.body['message'], /at most 32 counters/)
    t.match(await host.send('/user/v1/bootstrap', { body: { ...statement, policy } }), { status: 200 })
  },
)

t.test('a chain of keys and sessions has at most 32 KiB, 64 limits and 32 counters for a call', async t => {
  const { token } = await bootstrapUser(host.send)
  /** Mints sessions below each other with a policy each, until one is denied. */
  const stack = async (policy: object): Promise<readonly [number, unknown]> => {
    let by = token
    for (let made = 0; made < 8; made++) {
      const { status, body } = await host.send('/user/v1/sessions', { body: { policy }, headers: bearer(by) })
      if (status !== 200) return [made, body]
      by = body['sessionToken'] as string
    }
    return [8, undefined]
  }
  const denied = (message: RegExp) => ({ error: 'invalid_request', field: 'policy', message })
  t.match(await stack(LARGEST), [4, denied(/at most 32768 bytes/)])
  t.match(await stack(limitsOn(16, index => `a.b${index}`)), [4, denied(/at most 64 limits/)])
  t.match(await stack(limitsOn(16, index => `elsewhere.${'x.'.repeat(index)}*`)), [
    2,
    denied(/at most 32 counters/),
  ])
})

t.test('a key is changed only within the bounds of the chains below it', async t => {
  const { token } = await bootstrapUser(host.send)
  const made = async (by: string, policy: object) => {
    const key = await host.send('/user/v1/keys', { body: { policy }, headers: bearer(by) })
    t.equal(key.status, 200)
    const { userApiKey, userKeyId } = key.body as unknown as Record<string, string>
    const headers = { 'x-user-key': userApiKey as string }
    const minted = await host.send('/user/v1/sessions', { body: {}, headers })
    return { id: userKeyId as string, token: minted.body['sessionToken'] as string }
  }
  const child = await made(token, {})
  await made(
    child.token,
    limitsOn(16, index => `elsewhere.${'x.'.repeat(index)}*`),
  )
  const change = (count: number) =>
    host.send(`/user/v1/keys/${child.id}`, {
      method: 'PATCH',
      headers: bearer(token),
      body: {
        policy: {
          dailySpendCapCents: 1,
          ...limitsOn(count, index => `elsewhere.${'x.'.repeat(index)}*`),
        },
      },
    })
  const denied = await change(16)
  t.match(denied, {
    status: 400,
    body: { field: 'policy', message: /32 counters.*or revoke keys below this one/ },
  })
  t.match(await change(15), { status: 200 })
})

t.test('the operator creates no partner key with a larger policy', async t => {
  const DATA_DIR = temporaryFolder(t)
  const create = (policy: object) =>
    gatewright(['partner-keys', 'create', 'Acme', '--policy', JSON.stringify(policy)], { DATA_DIR })
  const refused = await create(TOO_LARGE)
  t.not(refused.code, 0)
  t.match(refused.output, /at most 8192 bytes/)
  t.equal((await create(LARGEST)).code, 0)
})
