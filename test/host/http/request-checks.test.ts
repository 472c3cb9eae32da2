// What the host decides about a request before its handler, each part by itself.
import { allow } from '@gatewright/kernel'
import t from 'tap'
import { codes, deny } from '#packages/host/dist/http/codes.js'
import { isKeyCurrent, isKeySession, keySession } from '#packages/host/dist/http/credentials/key-session.js'
import { bearerWebToken } from '#packages/host/dist/http/credentials/web-session.js'
import { toHandlerResponse, withIgnored } from '#packages/host/dist/http/mount/host-call.js'
import { callerOf } from '#packages/host/dist/http/operations/operation.js'

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
