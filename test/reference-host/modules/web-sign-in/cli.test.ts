import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { bearer, newWallet, request, openTestHost, type HttpResponse } from '../../../harness/host.ts'
import { signedLogin, signIn } from '../../harness/web-sign-in.ts'

const clock = manualClock(Date.now())
const host = await openTestHost(t, { PUBLIC_URL: 'https://pay.example' }, clock)
const { send } = host
const post = (path: string, body: object, headers: Record<string, string> = {}): Promise<HttpResponse> =>
  send(`/auth/cli/${path}`, { body, headers })

interface CliLogin {
  readonly requestToken: string
  readonly requestId: string
  readonly code: string
}

async function start(headers: Record<string, string> = {}): Promise<CliLogin> {
  const { body } = await post('start', { clientName: 'gw' }, headers)
  const { requestToken, code, url } = body.data as { requestToken: string; code: string; url: string }
  return { requestToken, code, requestId: url.split('#request=')[1] as string }
}
const poll = (requestToken: string): Promise<HttpResponse> => post('poll', { requestToken })
const challenge = (requestId: string, code?: string): Promise<HttpResponse> =>
  send('/auth/challenge', {
    body: { address: newWallet().address, requestId, ...(code === undefined ? {} : { code }) },
  })
const over = { status: 404, body: { error: 'challenge_not_found' } }

t.test('shows a code and a link that holds neither code nor token', async t => {
  const { body } = await post('start', {})
  t.match(body, {
    requestToken: /^[\w-]{43}\.\d{13}$/,
    code: /^[BCDFGHJKLMNPQRSTVWXZ2-9]{4}-[BCDFGHJKLMNPQRSTVWXZ2-9]{4}$/,
    url: /^https:\/\/pay\.example\/helper#request=[0-9a-f]{32}$/,
    expiresAt: new Date(clock.now() + 600_000).toISOString(),
    pollIntervalMs: 1500,
  })
  t.notOk(String(body['url']).includes(String(body['requestToken'])))
})

t.test('signs a command line in: pending, approved with the typed code, taken once', async t => {
  const { requestToken, requestId, code } = await start()
  t.match(await poll(requestToken), {
    status: 202,
    body: { status: 'pending', expiresAt: String, data: { status: 'pending' } },
  })
  const wallet = newWallet()
  const typed = ` ${code.toLowerCase().replace('-', ' ')}`
  const body = await signedLogin(send, wallet, { requestId, code: typed })
  const asked = await send('/auth/challenge', { body: { address: wallet.address, requestId, code } })
  t.match(asked.body['message'], new RegExp(`^Request ID: ${code.replace('-', '')}$`, 'm'))
  const approved = await send('/auth/login', { body })
  t.match(approved, { status: 200, body: { session: { address: wallet.address.toLowerCase() } } })
  t.notOk('token' in approved.body || 'token' in approved.body.data, 'one signature, one token')
  const done = await poll(requestToken)
  t.match(done, {
    status: 200,
    body: { status: 'completed', token: String, session: approved.body['session'] as object },
  })
  t.match(await poll(requestToken), { ...over, body: { message: /taken/ } })
  const token = done.body['token'] as string
  const key = await send('/identity/user-api-keys', { body: {}, headers: bearer(token) })
  t.match(key, { status: 200, body: { walletAddress: wallet.address.toLowerCase() } })
})

t.test('gives the token to one of 20 polls at once', async t => {
  const { requestToken, requestId, code } = await start()
  await signIn(send, newWallet(), { requestId, code })
  const responses = await Promise.all(Array.from({ length: 20 }, () => poll(requestToken)))
  t.equal(responses.filter(({ status }) => status === 200).length, 1)
  for (const response of responses.filter(({ status }) => status !== 200)) t.match(response, over)
})

t.test('of 8 approvals and denials at once one is in force', async t => {
  const { requestToken, requestId, code } = await start()
  const wallets = Array.from({ length: 4 }, () => newWallet())
  const logins = await Promise.all(wallets.map(wallet => signedLogin(send, wallet, { requestId, code })))
  const responses = await Promise.all([
    ...logins.map(body => send('/auth/login', { body })),
    ...logins.map(() => post('deny', { requestId, code })),
  ])
  const done = responses.filter(({ status }) => status === 200)
  t.equal(done.length, 1)
  for (const response of responses.filter(each => !done.includes(each))) t.match(response, over)
  const { body } = await poll(requestToken)
  if (done[0]?.body['status'] === 'denied') t.match(body, { error: 'challenge_not_found', message: /denied/ })
  else t.match(body, { session: done[0]?.body['session'] as object })
})

t.test('ends a request at the fifth wrong code, also of many at once', async t => {
  const first = await start()
  for (let wrong = 0; wrong < 4; wrong += 1) t.match(await challenge(first.requestId, 'BBBB-BBBB'), over)
  t.match(await challenge(first.requestId, first.code), { status: 200 })
  t.match(await post('deny', { requestId: first.requestId, code: 'BBBB-BBBB' }), over)
  t.match(await challenge(first.requestId, first.code), over)
  t.match(await poll(first.requestToken), { ...over, body: { message: /denied/ } })

  const second = await start()
  await Promise.all(Array.from({ length: 10 }, () => challenge(second.requestId, 'CCCC-CCCC')))
  t.match(await challenge(second.requestId, second.code), over)
  const third = await start()
  t.match(await challenge(third.requestId), over, 'no code is a wrong one')
  t.match(await challenge('unknown', third.code), over)
})

t.test('denies, and an earlier challenge then approves nothing', async t => {
  const { requestToken, requestId, code } = await start()
  const body = await signedLogin(send, newWallet(), { requestId, code })
  t.match(await post('deny', { requestId, code }), { status: 200, body: { status: 'denied' } })
  t.match(await send('/auth/login', { body }), over)
  t.match(await poll(requestToken), { ...over, body: { message: /denied/ } })
  t.match(await post('inspect', { requestId }), over)
})

t.test('shows from where a sign-in is requested, and whether from the same network', async t => {
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const { requestId, requestToken } = await start(from('2001:db8:1:2::9'))
  const inspect = (id: string, address: string): Promise<HttpResponse> =>
    post('inspect', { requestId: id }, from(address))
  const shown = { clientName: 'gw', clientAddress: '2001:db8:1:2::9', startedAt: String, expiresAt: String }
  t.match(await inspect(requestId, '2001:db8:1:2::7'), { status: 200, body: { ...shown, sameNetwork: true } })
  for (const other of ['2001:db8:1:3::9', '192.0.2.1'])
    t.match(await inspect(requestId, other), { status: 200, body: { ...shown, sameNetwork: false } }, other)
  t.match(await inspect(requestToken, '192.0.2.1'), { status: 200 }, 'a token is taken in place of the id')
  t.notOk('code' in (await inspect(requestId, '192.0.2.1')).body)
})

t.test('responds to polls that come too quick with 202, and limits everything else by address', async t => {
  const limited = await openTestHost(t, {
    RATE_LIMITS: '{"bootstrapPerAddressPerMinute":3,"tokenChecksPerAddressPerMinute":2}',
  })
  const cli = async (path: string, body: object): Promise<number> =>
    (await limited.send(`/auth/${path}`, { body })).status
  const { body } = await limited.send('/auth/cli/start', { body: {} })
  const { requestToken, expiresAt } = body.data as { requestToken: string; expiresAt: string }
  for (let n = 0; n < 125; n += 1) {
    const response = await limited.send('/auth/cli/poll', { body: { requestToken } })
    if (response.status !== 202 || response.body['expiresAt'] !== expiresAt)
      t.fail(`poll ${n}: ${response.status}`)
  }
  t.same(
    [await cli('cli/poll', { requestToken: 'A'.repeat(43) }), await cli('session', { accessToken: 'x' })],
    [404, 200],
  )
  t.same([await cli('session', { accessToken: 'x' }), await cli('session', { accessToken: 'x' })], [200, 429])
  const { address } = newWallet()
  t.same([await cli('challenge', { address }), await cli('challenge', { address })], [200, 200])
  for (const path of ['challenge', 'login', 'cli/start', 'cli/inspect', 'cli/deny'])
    t.equal(await cli(path, {}), 429, path)
})

t.test('limits keys that are made or rotated with a web token by address', async t => {
  const limited = await openTestHost(t, { RATE_LIMITS: '{"tokenChecksPerAddressPerMinute":3}' })
  const { body } = await signIn(limited.send, newWallet())
  const { token } = body.data
  const send = async (path: string): Promise<number> => {
    const headers = { authorization: `Bearer ${String(token)}` }
    return (await limited.send(path, { body: {}, headers })).status
  }
  t.equal(await send('/user/v1/keys'), 200)
  t.equal(await send('/identity/user-api-keys'), 401, 'the token is used up')
  t.equal(await send('/user/v1/keys/key_none/rotate'), 401)
  for (const path of ['/identity/user-api-keys', '/user/v1/keys', '/user/v1/keys/key_none/rotate'])
    t.equal(await send(path), 429, path)
})

t.test('sends existing addresses to the page, without the code', async t => {
  const to = async (path: string): Promise<[number, string | null]> => {
    const { status, headers } = await request(host.url, path)
    return [status, headers.get('location')]
  }
  t.same(await to('/auth/cli?request=abc.1&code=BCDF-2345'), [302, '/helper#request=abc.1'])
  t.same(await to('/auth/cli?request=%22%3E%23%0d%0aSet-Cookie:x'), [400, null])
  t.same(await to(`/auth/cli?request=${encodeURIComponent('a#b?c&"<')}`), [
    302,
    '/helper#request=a%23b%3Fc%26%22%3C',
  ])
  t.same(await to(`/auth/cli?request=${'x'.repeat(121)}`), [302, '/helper'])
  t.same(await to('/auth/cli'), [302, '/helper'])
  t.same(await to('/identity/kyc'), [302, '/helper#kyc'])
})
