import { manualClock } from '@gatewright/kernel/testing'
import t, { type Test } from 'tap'
import { mistyped } from '../../../harness/chain/addresses.ts'
import {
  bootstrapUser,
  newWallet,
  signedBootstrap,
  openTestHost,
  statementOf,
  templateA,
  type HttpResponse,
} from '../../../harness/host.ts'

const PATH = '/user/v1/bootstrap'
const clock = manualClock(Date.now())
const host = await openTestHost(t, {}, clock)
const bootstrap = (body: unknown): Promise<HttpResponse> => host.send(PATH, { body })
const isDenied = (
  test: Test,
  response: HttpResponse,
  status: number,
  error: string,
  field?: string,
): void => {
  test.match({ status: response.status, ...response.body }, { status, error, ...(field ? { field } : {}) })
  test.type(response.body['message'], 'string')
}

t.test('creates a key and a session from a signature over template A', async t => {
  const wallet = newWallet()
  const { status, body } = await bootstrap(await signedBootstrap(wallet, {}, clock.now()))
  t.equal(status, 200)
  const data = body.data
  for (const [name, value] of Object.entries(data))
    t.same(body[name], value, `${name} is repeated at top level`)
  t.match(data, {
    userApiKey: /^gw_sandbox_user_[0-9A-Za-z]{16}_[0-9A-Za-z]{36}$/,
    sessionId: String,
    walletAddress: wallet.address.toLowerCase(),
    userId: String,
    expiresAt: new Date(Math.floor(clock.now() / 1000) * 1000 + 900_000).toISOString(),
  })
  t.equal(data['consumerApiKey'], data['userApiKey'])
  t.equal(data['consumerKeyId'], data['userKeyId'])
  t.equal((data['scopes'] as string[]).length, 41)
  t.match(body, { ok: true, errors: [], summary: String })
})

t.test('accepts a lower-case address, and gives the same wallet the same user and a new key', async t => {
  const wallet = newWallet()
  const first = await bootstrap(await signedBootstrap(wallet, {}, clock.now()))
  const statement = { ...statementOf(wallet.address, clock.now()), address: wallet.address.toLowerCase() }
  const signature = await wallet.signMessage({ message: templateA(statement) })
  const second = await bootstrap({ ...statement, signature })
  t.equal(second.status, 200)
  t.equal(second.body['userId'], first.body['userId'])
  t.not(second.body['userApiKey'], first.body['userApiKey'])
})

t.test('accepts one of 20 simultaneous uses of a statement and no later use', async t => {
  const body = await signedBootstrap(newWallet(), {}, clock.now())
  const responses = await Promise.all(Array.from({ length: 20 }, () => bootstrap(body)))
  t.equal(responses.filter(({ status }) => status === 200).length, 1)
  for (const response of responses.filter(({ status }) => status !== 200)) {
    isDenied(t, response, 401, 'invalid_signature')
  }
  isDenied(t, await bootstrap(body), 401, 'invalid_signature')
})

t.test('denies anything that the wallet did not sign, with the same body for every cause', async t => {
  const other = newWallet()
  const good = await signedBootstrap(newWallet(), {}, clock.now())
  const signed = async (now: number): Promise<Record<string, unknown>> =>
    signedBootstrap(newWallet(), {}, now)
  const denied = await Promise.all([
    bootstrap({ ...good, address: other.address }),
    bootstrap({ ...good, nonce: 'another-nonce' }),
    bootstrap({ ...good, expiresAt: new Date(clock.now() + 299_000).toISOString() }),
    bootstrap(await signed(clock.now() - 300_000)),
    bootstrap(await signed(clock.now() + 61_000)),
  ])
  for (const response of denied) {
    isDenied(t, response, 401, 'invalid_signature')
    t.same(response.body, denied[0]?.body)
    t.match(response.headers.get('www-authenticate'), /^Bearer/)
  }
  t.equal((await bootstrap(good)).status, 200, 'the denials claimed no nonce')
})

t.test(
  'denies a window longer than 10 minutes, and fields that are missing or malformed, naming the field',
  async t => {
    const wallet = newWallet()
    const long = {
      ...statementOf(wallet.address, clock.now()),
      expiresAt: new Date(clock.now() + 600_001).toISOString(),
    }
    const signature = await wallet.signMessage({ message: templateA(long) })
    isDenied(t, await bootstrap({ ...long, signature }), 400, 'invalid_request', 'expiresAt')

    const good = await signedBootstrap(wallet, {}, clock.now())
    for (const field of ['address', 'signature', 'nonce', 'issuedAt', 'expiresAt']) {
      const { [field]: _, ...missing } = good
      isDenied(t, await bootstrap(missing), 400, 'invalid_request', field)
      isDenied(t, await bootstrap({ ...good, [field]: 7 }), 400, 'invalid_request', field)
    }
    const wrong = await bootstrap({ ...good, address: mistyped(wallet.address) })
    isDenied(t, wrong, 400, 'invalid_request', 'address')
    isDenied(
      t,
      await bootstrap({ ...good, sessionTtlSeconds: 59 }),
      400,
      'invalid_request',
      'sessionTtlSeconds',
    )
    t.equal((await bootstrap(good)).status, 200, 'the denials claimed no nonce')
  },
)

t.test('denies unknown scopes and scopes beyond the key, and ignores retired ones', async t => {
  const good = await signedBootstrap(newWallet(), {}, clock.now())
  const unknown = await bootstrap({ ...good, scopes: ['users.read', 'users.fly'] })
  isDenied(t, unknown, 400, 'invalid_request', 'scopes')
  t.match(unknown.body['message'], /users\.fly/)

  const beyond = await bootstrap({
    ...good,
    scopes: ['users.read'],
    sessionScopes: ['users.read', 'cards.read'],
  })
  isDenied(t, beyond, 403, 'insufficient_scope')
  t.equal(beyond.body['scope'], 'cards.read')

  const scopes = ['users.read', 'cards.read', 'deposits-swapped.read']
  const { status, body } = await bootstrap({
    ...good,
    scopes,
    sessionScopes: ['users.read'],
    sessionTtlSeconds: 60,
  })
  t.equal(status, 200, 'the denials claimed no nonce')
  t.same(body['scopes'], ['users.read'])
  t.same(body['ignoredScopes'], ['deposits-swapped.read'])
  t.equal(body['expiresAt'], new Date(Math.floor(clock.now() / 1000) * 1000 + 60_000).toISOString())
})

t.test(
  'mints sessions within the scopes of the new key, under the current and the legacy header name',
  async t => {
    const { key } = await bootstrapUser(host.send, { scopes: ['users.read', 'cards.read'] }, clock.now())
    for (const header of ['x-user-key', 'x-consumer-key']) {
      const { status, body } = await host.send('/user/v1/sessions', {
        body: { scopes: ['cards.read'] },
        headers: { [header]: key },
      })
      t.equal(status, 200)
      t.same(body['scopes'], ['cards.read'])
      t.equal(body['sessionToken'], body.data['sessionToken'])
    }
    const all = await host.send('/user/v1/sessions', { method: 'POST', headers: { 'x-user-key': key } })
    t.same(all.body['scopes'], ['users.read', 'cards.read'], 'without a body: all scopes of the key')
    const mint = (body: unknown, headers = { 'x-user-key': key }): Promise<HttpResponse> =>
      host.send('/user/v1/sessions', { body, headers })
    isDenied(t, await mint({ scopes: ['keys.read'] }), 403, 'insufficient_scope')
    isDenied(t, await mint({ ttlSeconds: 86_401 }), 400, 'invalid_request', 'ttlSeconds')
    isDenied(
      t,
      await mint({}, { 'x-user-key': key.slice(0, -1) + (key.endsWith('0') ? '1' : '0') }),
      401,
      'unauthorized',
    )
    isDenied(t, await mint({}, { 'x-user-key': host.partnerKey }), 401, 'unauthorized')
    const bare = await host.send('/user/v1/sessions', { body: {} })
    isDenied(t, bare, 401, 'unauthorized')
    t.match(bare.headers.get('www-authenticate'), /^Bearer/)
    t.notMatch(bare.headers.get('www-authenticate'), /error=/, 'no credential was sent')
  },
)
