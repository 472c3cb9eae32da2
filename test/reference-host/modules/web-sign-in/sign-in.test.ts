import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { bearer, newWallet, openTestHost, type HttpResponse } from '../../../harness/host.ts'
import { signedLogin, signIn, webToken } from '../../harness/web-sign-in.ts'

const clock = manualClock(Date.now())
const ORIGIN = 'https://pay.example'
const host = await openTestHost(t, { PUBLIC_URL: ORIGIN, SERVICE_NAME: 'Acme: Zürich Pay' }, clock)
const { send } = host
const login = (body: unknown): Promise<HttpResponse> => send('/auth/login', { body })
const look = async (accessToken: string): Promise<unknown> =>
  (await send('/auth/session', { body: { accessToken } })).body.data['session']
const denied = { error: 'invalid_signature', message: 'The wallet proof is not valid.' }

t.test('asks for an EIP-4361 message of the own domain, which says what it is for', async t => {
  const wallet = newWallet()
  const { body } = await send('/auth/challenge', { body: { address: wallet.address.toLowerCase() } })
  const lines = String(body['message']).split('\n')
  t.same(lines.slice(0, 9), [
    'pay.example wants you to sign in with your Ethereum account:',
    wallet.address,
    '',
    'Sign in to Acme? Z?rich Pay. Whoever gets this signature can make an API key for your account, and a key can move money.',
    '',
    `URI: ${ORIGIN}`,
    'Version: 1',
    'Chain ID: 1',
    `Nonce: ${String(body['nonce'])}`,
  ])
  t.match(body, { siwe: true, expiresAt: new Date(clock.now() + 300_000).toISOString() })
  t.notMatch(body['message'], /Request ID/)
})

t.test('signs a wallet in: one user, and a token for ten minutes', async t => {
  const wallet = newWallet()
  const extra = { connector: 'injected', walletLabel: 'Main', chainId: '0x2105' }
  const { status, body } = await signIn(send, wallet, extra)
  const session = {
    sessionId: /^[0-9a-f]{32}$/,
    address: wallet.address.toLowerCase(),
    connector: 'injected',
    walletLabel: 'Main',
    chainId: 8453,
    status: 'valid',
    expiresAt: new Date(clock.now() + 600_000).toISOString(),
  }
  t.match({ status, ...body }, { status: 200, token: String, session, data: { session } })
  t.notOk('accountId' in (body['session'] as object))
  const again = await signIn(send, wallet)
  const userOf = (response: HttpResponse): unknown => (response.body['session'] as { userId: string }).userId
  t.equal(userOf(again), userOf({ body } as HttpResponse))
})

t.test('accepts one of 20 simultaneous logins with one challenge, and none later', async t => {
  const body = await signedLogin(send)
  const responses = await Promise.all(Array.from({ length: 20 }, () => login(body)))
  t.equal(responses.filter(({ status }) => status === 200).length, 1)
  for (const response of [...responses.filter(({ status }) => status !== 200), await login(body)])
    t.same([response.status, response.body], [401, denied])
})

t.test('denies every wrong proof with one body', async t => {
  const [wallet, other] = [newWallet(), newWallet()]
  const good = await signedLogin(send, wallet)
  const theirs = await signedLogin(send, other)
  const elsewhere = await openTestHost(t, { PUBLIC_URL: 'https://other.example' }, clock)
  const { nonce, challengeToken } = good
  const changed = String(challengeToken).slice(0, -2) + (String(challengeToken).endsWith('AA') ? 'BA' : 'AA')
  const wrong = {
    'another address': { ...good, address: other.address },
    'the signature of another wallet': { ...good, signature: theirs['signature'] },
    'the challenge of another address': { ...good, challengeToken: theirs['challengeToken'] },
    'another nonce': { ...good, nonce: theirs['nonce'] },
    'a challenge of another domain': await signedLogin(elsewhere.send, wallet),
    'a changed challenge': { ...good, challengeToken: changed },
    'no challenge': { ...good, challengeToken: 'none' },
    'a web token for a challenge': { ...good, challengeToken: await webToken(send, wallet) },
    'a signature over another text': {
      ...good,
      signature: await wallet.signMessage({ message: `${String(nonce)} and nothing else` }),
    },
  }
  for (const [what, body] of Object.entries(wrong)) {
    const response = await login(body)
    t.same([response.status, response.body], [401, denied], what)
  }
  t.equal((await login(good)).status, 200, 'and none of them used the nonce up')
})

t.test('denies a challenge from its end on, and takes it until then', async t => {
  const [early, late] = [await signedLogin(send), await signedLogin(send)]
  clock.advance(299_999)
  t.equal((await login(early)).status, 200)
  clock.advance(1)
  t.same((await login(late)).body, denied)
})

t.test('a signature for a sign-in makes no key by bootstrap, and the other way round', async t => {
  const wallet = newWallet()
  const { body } = await send('/auth/challenge', { body: { address: wallet.address } })
  const message = String(body['message'])
  const line = (label: string): string => new RegExp(`^${label}: (.*)$`, 'm').exec(message)?.[1] ?? ''
  const statement = {
    address: wallet.address,
    nonce: body['nonce'],
    message,
    template: 'eip4361',
    issuedAt: line('Issued At'),
    expiresAt: line('Expiration Time'),
    signature: await wallet.signMessage({ message }),
  }
  const response = await send('/user/v1/bootstrap', { body: statement })
  t.match(response, { status: 401, body: denied })
})

t.test('distinguishes a valid, an expired and an invalid token, always with 200', async t => {
  const token = await webToken(send)
  t.match(await look(token), { status: 'valid', address: String })
  clock.advance(599_999)
  t.match(await look(token), { status: 'valid' })
  clock.advance(1)
  t.match(await look(token), { status: 'expired', address: String })
  const challenge = (await signedLogin(send))['challengeToken'] as string
  for (const text of ['x', `${token}A`, challenge, 'eyJh.eyJh.c2ln'])
    t.same(await look(text), { status: 'invalid' })
})

t.test('a web token makes one key, of 20 tries at once', async t => {
  const wallet = newWallet()
  const token = await webToken(send, wallet)
  const make = (body: object = {}): Promise<HttpResponse> =>
    send('/identity/user-api-keys', { body, headers: bearer(token) })
  t.match(await make({ scopes: ['no.such'] }), { status: 400 }, 'a wrong request does not use it up')
  t.match(await make({ policy: { unknown: 1 } }), { status: 400 })
  const responses = await Promise.all(
    Array.from({ length: 20 }, () => make({ policy: { dailySpendCapCents: 5 } })),
  )
  const made = responses.filter(({ status }) => status === 200)
  t.equal(made.length, 1)
  const again = await make()
  t.match(again, { status: 401, body: { error: 'unauthorized' } })
  for (const response of responses.filter(({ status }) => status !== 200)) t.same(response.body, again.body)
  t.match(made[0]?.body, { userApiKey: /^gw_sandbox_user_/, walletAddress: wallet.address.toLowerCase() })
  t.equal((made[0]?.body['scopes'] as string[]).length, 41, 'all scopes, as bootstrap')
  const key = { 'x-user-key': made[0]?.body['userApiKey'] as string }
  const session = await send('/user/v1/sessions', { body: {}, headers: key })
  const listed = await send('/user/v1/keys', { headers: bearer(session.body['sessionToken'] as string) })
  t.match(listed.body['keys'], [{ policy: { dailySpendCapCents: 5 }, createdBy: null }], 'and it is a root')
  t.match(await look(token), { status: 'valid' }, 'the token is still known')
})

t.test('a web token is no session, and an expired or foreign one makes no key', async t => {
  const token = await webToken(send)
  for (const path of ['/user/v1/users', '/user/v1/keys', '/user/v1/balances', '/identity/user-api-keys'])
    t.match(await send(path, { headers: bearer(token) }), { status: 401 }, path)
  const post = async (text: string): Promise<unknown> =>
    (await send('/identity/user-api-keys', { body: {}, headers: bearer(text) })).body
  const challenge = (await signedLogin(send))['challengeToken'] as string
  const denial = await post(challenge)
  t.match(denial, { error: 'unauthorized', message: /web token/ })
  clock.advance(600_000)
  t.same(await post(token), denial)
  t.same(await post('sandbox-1.AAAA'), denial)
})

t.test('a session makes keys there as before, also under the legacy name', async t => {
  const token = await webToken(send)
  const root = await send('/identity/consumer-api-keys', { body: {}, headers: bearer(token) })
  t.equal(root.status, 200)
  const key = { 'x-user-key': root.body['userApiKey'] as string }
  const session = await send('/user/v1/sessions', { body: { scopes: ['keys.write'] }, headers: key })
  const headers = bearer(session.body['sessionToken'] as string)
  t.match(await send('/identity/user-api-keys', { body: {}, headers }), { status: 200 })
  t.match(await send('/identity/user-api-keys', { body: { scopes: ['cards.write'] }, headers }), {
    status: 403,
  })
})

t.test('no token is in a decision event', async t => {
  const token = await webToken(send)
  await send('/identity/user-api-keys', { body: {}, headers: bearer(token) })
  await send('/identity/user-api-keys', { body: {}, headers: bearer(token) })
  t.notOk(JSON.stringify(host.decisions).includes(token.slice(-40)))
})
