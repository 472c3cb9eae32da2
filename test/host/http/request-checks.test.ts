// What the host decides about a request before its handler, each part by itself.
import { createHmac, randomBytes } from 'node:crypto'
import { allow } from '@gatewright/kernel'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'

type Codes = typeof import('../../../packages/host/dist/http/codes.js')
type KeySessions = typeof import('../../../packages/host/dist/http/credentials/key-session.js')
type Targets = typeof import('../../../packages/host/dist/http/request/request-target.js')
type WebSessions = typeof import('../../../packages/host/dist/http/credentials/web-session.js')
type HostCalls = typeof import('../../../packages/host/dist/http/mount/host-call.js')
type OpenResponses = typeof import('../../../packages/host/dist/http/mount/open-responses.js')
type ProviderMessages = typeof import('../../../packages/host/dist/http/credentials/provider-messages.js')
type Operations = typeof import('../../../packages/host/dist/http/operations/operation.js')

const load = (file: string): Promise<unknown> => import(`${process.cwd()}/packages/host/dist/http/${file}.js`)
// Not exported by the package.
const { codes, deny } = (await load('codes')) as Codes
const { isKeyCurrent, isKeySession, keySession } = (await load('credentials/key-session')) as KeySessions
const { targetDenial } = (await load('request/request-target')) as Targets
const { bearerWebToken } = (await load('credentials/web-session')) as WebSessions
const { toHandlerResponse, withIgnored } = (await load('mount/host-call')) as HostCalls
const { openResponses, wantsOpenResponses } = (await load('mount/open-responses')) as OpenResponses
const { providerMessages, standardWebhooks } = (await load(
  'credentials/provider-messages',
)) as ProviderMessages
const { callerOf } = (await load('operations/operation')) as Operations

t.test('each denial has its status', async t => {
  t.same(codes, {
    invalid_request: 400,
    insufficient_balance: 400,
    unauthorized: 401,
    invalid_signature: 401,
    insufficient_scope: 403,
    policy_blocked: 403,
    key_not_validated: 403,
    key_held: 403,
    https_required: 403,
    not_found: 404,
    challenge_not_found: 404,
    payee_not_found: 404,
    method_not_allowed: 405,
    invalid_state: 409,
  })
  t.match(deny('not_found', 'none'), { ok: false, code: 'not_found', status: 404, message: 'none' })
})

const KEY = {
  id: 'key_1',
  accountId: 'acc_1',
  userId: 'usr_1',
  walletAddress: '0xa',
  surface: 'user',
  version: 3,
  policyIds: ['pol_1'],
  scopes: ['cards.read'],
  revokedAt: null,
  expiresAt: null,
} as never

t.test('the session of a presented key has all rights of the key, and no end of its own', async t => {
  const session = keySession(KEY)
  t.strictSame(session, {
    sessionId: 'key:key_1',
    accountId: 'acc_1',
    userId: 'usr_1',
    walletAddress: '0xa',
    surface: 'user',
    policyIds: ['pol_1'],
    scopes: ['cards.read'],
    keyId: 'key_1',
    keyVersion: 3,
    issuedAt: 0,
    expiresAt: Number.MAX_SAFE_INTEGER,
    key: KEY,
  })
  t.equal(isKeySession(session), true)
  t.equal(isKeySession({ ...session, sessionId: 'ses_key:1' }), false)
  t.equal(callerOf({ session } as never), KEY)
  t.equal(callerOf(KEY), KEY)
  const stored = { ...session, sessionId: 'ses_1' }
  t.equal(callerOf({ session: stored } as never), stored)
})

t.test('a presented key is current until it changes, is revoked or ends', async t => {
  const session = keySession(KEY)
  const isCurrent = (change: object | undefined, now = 1000): Promise<boolean> =>
    isKeyCurrent({ find: async () => change && ({ ...(KEY as object), ...change } as never) }, session, now)
  t.equal(await isCurrent({}), true)
  t.equal(await isCurrent({ expiresAt: 1001 }), true)
  for (const change of [undefined, { version: 4 }, { revokedAt: 1 }, { revokedAt: 0 }, { expiresAt: 1000 }])
    t.equal(await isCurrent(change), false, JSON.stringify(change))
})

t.test('recognizes a web token by its one dot', async t => {
  t.equal(bearerWebToken('Bearer a-1.b_2'), 'a-1.b_2')
  t.equal(bearerWebToken('bearer a.b'), 'a.b')
  for (const other of [undefined, '', 'a.b', 'Bearer a', 'Bearer a.b.c', 'Bearer gw_sandbox', 'Basic a.b'])
    t.equal(bearerWebToken(other), undefined, `${other}`)
})

t.test('denies path parameters without the form of an id, and query parameters that are no text', async t => {
  const query = { properties: { name: {}, other: {} } } as never
  const check = (params: Record<string, string>, search = '', more: object = {}): unknown =>
    targetDenial({ query, method: 'POST', surface: 'user', ...more }, params, new URLSearchParams(search))
  for (const id of ['a', 'x'.repeat(120), '!~']) t.equal(check({ id }), undefined)
  for (const id of ['', 'x'.repeat(121), 'a b', 'ä', '\u007f'])
    t.match(check({ id: 'good', other: id }), { code: 'not_found', status: 404 }, id)
  for (const search of ['', 'name=a', 'name=%C3%A4&name=b', 'unknown=%FF'])
    t.equal(check({}, search), undefined, search)
  for (const search of ['name=%FF', 'name=a%00', 'name=a%CC%88', 'name=a&name=%EF%BF%BD', 'other=%01'])
    t.match(check({}, search), { code: 'invalid_request', field: /^name|other$/ }, search)
  t.match(check({}, 'nme=a', { unknownMembers: 'deny' }), { code: 'invalid_request', field: 'nme' })
  t.equal(
    targetDenial({ method: 'GET', surface: 'public' }, {}, new URLSearchParams('a=%FF')),
    undefined,
    'no parameter is read',
  )
})

const SECRETS = [randomBytes(24), randomBytes(24)] as const
const BODY = Buffer.from('{"a":1}')
const AT = 1_767_225_600

/** The header fields of a signed message. */
function signed({ id = 'msg_1', at = `${AT}`, secret = SECRETS[0], version = 'v1' } = {}) {
  const mac = createHmac('sha256', secret).update(`${id}.${at}.`).update(BODY).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': `${version},${mac}` }
}

t.test('accepts a message signed with any of the secrets, up to five minutes off', async t => {
  const good = signed()
  const { 'webhook-signature': signature } = good
  const verify = (fields: Readonly<Record<string, string>>, now = AT * 1000): Promise<string | undefined> =>
    standardWebhooks(SECRETS, manualClock(now))({ header: name => fields[name], body: BODY })
  for (const ms of [0, 300_000, -300_000]) t.equal(await verify(good, AT * 1000 + ms), 'msg_1', `${ms}`)
  for (const ms of [300_001, -300_001]) t.equal(await verify(good, AT * 1000 + ms), undefined, `${ms}`)
  t.equal(await verify(signed({ secret: SECRETS[1] })), 'msg_1')
  t.equal(
    await verify({ ...good, 'webhook-signature': `v1,AAAA v1a,b ${signature}` }),
    'msg_1',
    'one of several',
  )
  t.equal(await verify(signed({ id: 'x'.repeat(120) })), 'x'.repeat(120))
  const wrong: Record<string, Record<string, string>> = {
    'another secret': signed({ secret: randomBytes(24) }),
    'another version': signed({ version: 'v2' }),
    'a cut signature': { ...good, 'webhook-signature': signature.slice(0, -4) },
    'no signature': { 'webhook-id': 'msg_1', 'webhook-timestamp': `${AT}` },
    'an empty signature': { ...good, 'webhook-signature': '' },
    'no id': { 'webhook-timestamp': `${AT}`, 'webhook-signature': signature },
    'another id': { ...good, 'webhook-id': 'msg_2' },
    'a long id': signed({ id: 'x'.repeat(121) }),
    'an id with a space': signed({ id: 'a b' }),
    'no timestamp': { 'webhook-id': 'msg_1', 'webhook-signature': signature },
    'a timestamp that is no number': signed({ at: 'now' }),
    'a timestamp with a sign': signed({ at: `+${AT}` }),
    'another timestamp': { ...good, 'webhook-timestamp': `${AT + 1}` },
  }
  for (const [what, fields] of Object.entries(wrong)) t.equal(await verify(fields), undefined, what)
  t.equal(
    await standardWebhooks([], manualClock(AT * 1000))({ header: () => undefined, body: BODY }),
    undefined,
  )
  const far = signed({ at: '9'.repeat(12) })
  t.equal(await verify(far, Number('9'.repeat(12)) * 1000), 'msg_1', 'the longest timestamp')
  const longer = signed({ at: '1'.repeat(13) })
  t.equal(await verify(longer, Number('1'.repeat(13)) * 1000), undefined)
})

t.test('takes only the secrets of the provider that is named', async t => {
  const failures = {
    runWithinLimit: async (_: string, run: () => Promise<unknown>) => run(),
    charge: async () => {},
  }
  const check = providerMessages({
    secrets: [
      { provider: 'one', secret: SECRETS[0] },
      { provider: 'other', secret: SECRETS[1] },
    ],
    verifiers: new Map(),
    clock: manualClock(AT * 1000),
    failures: failures as never,
  })
  const fields: Readonly<Record<string, string>> = signed()
  const facts = { address: '192.0.2.1', header: (name: string) => fields[name] } as never
  t.match(await check(facts, 'one', BODY), { ok: true, value: { provider: 'one', messageId: 'msg_1' } })
  t.match(await check(facts, 'other', BODY), { ok: false, code: 'unauthorized' })
})

t.test('makes the response of a success, a document and a denial', async t => {
  const success = { data: {}, summary: 'Done.' }
  t.strictSame(toHandlerResponse(allow(success)), { status: 200, body: success })
  t.strictSame(toHandlerResponse(allow({ ...success, status: 202 })), {
    status: 202,
    body: { ...success, status: 202 },
  })
  const document = { document: { keys: [] }, headers: [['a', 'b']] as const }
  t.strictSame(toHandlerResponse(allow(document)), { status: 200, headers: [['a', 'b']], body: { keys: [] } })
  t.match(toHandlerResponse(allow({ ...document, document: undefined, status: 302 })), { status: 302 })
  const denial = deny('not_found', 'none')
  t.equal(toHandlerResponse(denial), denial)
})

t.test('lists ignored names in a success of the envelope, and nowhere else', async t => {
  const call = { facts: { query: new URLSearchParams('extra=1') }, input: { body: { note: 1 } } } as never
  const operation = { body: { properties: {} }, query: { properties: {} } } as never
  const response = { status: 200, body: { data: {}, summary: 'Done.' } }
  t.same(withIgnored(operation, call, response), {
    status: 200,
    body: { data: {}, summary: 'Done.', ignored: ['note', 'extra'] },
  })
  for (const same of [
    deny('not_found', 'none'),
    { status: 200, body: '' },
    { status: 200, body: null },
    { status: 200 },
  ])
    t.equal(withIgnored(operation, call, same as typeof response), same)
  t.equal(withIgnored({ ...(operation as object), document: true } as never, call, response), response)
  const none = { facts: { query: new URLSearchParams() }, input: { body: {} } } as never
  t.equal(withIgnored(operation, none, response), response)
})

t.test('wraps a response as an Open Responses object on request', async t => {
  const facts = (fields: Record<string, string>) => ({ header: (name: string) => fields[name] }) as never
  for (const [value, wants] of [
    ['1', true],
    ['true', true],
    ['0', false],
    ['', false],
    ['TRUE', false],
  ] as const)
    t.equal(wantsOpenResponses(facts({ 'x-open-responses': value })), wants)
  t.equal(wantsOpenResponses(facts({})), false)
  const wrap = (status: number, body: object, fields: Record<string, string> = {}) =>
    openResponses({ status, headers: [], body }, facts(fields), { model: 'm', createdAt: 7 }).body as {
      output: { call_id?: string; content?: { text: string }[] }[]
    }
  t.match(wrap(200, { summary: 'Done.' }), {
    status: 'completed',
    created_at: 7,
    completed_at: 7,
    error: null,
    output: [{ content: [{ text: 'Done.' }] }, { output: '{"summary":"Done."}' }],
  })
  t.match(wrap(399, {}), { status: 'completed', output: [{ content: [{ text: '' }] }, {}] })
  t.match(wrap(400, { error: 'a', message: 'b' }), {
    status: 'failed',
    completed_at: null,
    error: { code: 'a', message: 'b' },
    output: [{ content: [{ text: 'b' }] }, {}],
  })
  t.match(wrap(500, {}), { error: { code: 'internal_error', message: '' } })
  for (const [given, used] of [
    ['x'.repeat(200), 'x'.repeat(200)],
    ['x'.repeat(201), /^call_[0-9a-f]{32}$/],
    ['a b', /^call_/],
    ['', /^call_/],
  ] as const)
    t.match(wrap(200, {}, { 'x-open-responses-call-id': given }).output[1]?.call_id, used)
  t.match(wrap(200, {}), {
    top_p: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    temperature: 0,
    parallel_tool_calls: false,
    store: false,
    background: false,
  })
})
