import type { Operation } from '@gatewright/host'
import { assertOperationTable } from '#packages/host/dist/http/operations/operation-table.js'
import t from 'tap'

const sound = {
  id: 'cards.list',
  title: 'List',
  surface: 'user',
  method: 'GET',
  paths: ['/cards/{id}'],
  credential: 'session',
  scopes: [],
  response: {},
  handle: async () => ({ ok: true, value: {} }),
} as unknown as Operation
const refused = (change: object, ...others: object[]): (() => void) => {
  const table = [{ ...sound, ...change }, ...others.map(other => ({ ...sound, ...other }))] as Operation[]
  return () => assertOperationTable(table)
}

t.test('accepts a table whose operations are declared completely', async t => {
  t.doesNotThrow(refused({}, { id: 'cards.get', method: 'POST' }))
})

t.test('refuses a table with an incomplete operation, and names it', async t => {
  t.throws(refused({ credential: undefined }), /operation cards.list names no credential/)
  t.throws(refused({ scopes: undefined }), /operation cards.list names no scopes/)
  t.throws(refused({ credential: 'none' }), /operation cards.list is public and names no limit/)
  const open = { credential: 'none', surface: 'public' }
  t.throws(refused(open), /operation cards.list is public and names no limit/)
  t.doesNotThrow(refused({ ...open, limit: 'none' }), 'unless it says so')
  t.throws(refused({ id: 'cards' }), /operation cards must be named tag.verb/)
  t.throws(refused({ paths: [] }), /has no path/)
})

t.test(
  'refuses an operation that makes or changes a key or a session and accepts unknown members',
  async t => {
    const accepts = /operation [a-z]+\.[A-Za-z]+ makes or changes a key or a session/
    const denies = { unknownMembers: 'deny' }
    const newSession = { response: { properties: { sessionToken: {} } } }
    const newKey = { response: { properties: { userApiKey: {} } } }
    for (const change of [
      newSession,
      newKey,
      { id: 'keys.freeze', method: 'PATCH' },
      { id: 'sessions.end', method: 'DELETE' },
    ]) {
      t.throws(refused(change), accepts)
      t.throws(refused({ ...change, unknownMembers: 'list' }), accepts)
      t.doesNotThrow(refused({ ...change, ...denies }))
    }
    t.doesNotThrow(refused({ id: 'keys.list', method: 'GET' }), 'a list changes nothing')
  },
)

t.test('refuses two operations with one name or one path', async t => {
  t.throws(refused({}, { paths: ['/other'] }), /cards.list is listed twice/)
  t.throws(refused({}, { id: 'cards.get', paths: ['/cards/{cardId}'] }), /cards.get has the path of another/)
})

t.test('refuses a body with an unconstrained string, at any depth', async t => {
  const body = (properties: object): object => ({ body: { type: 'object', properties } })
  const any = { type: 'string', maxLength: 120 }
  t.throws(refused(body({ note: any })), /operation cards.list takes any text as note/)
  t.throws(
    refused(body({ list: { type: 'array', items: { anyOf: [any, { type: 'null' }] } } })),
    /text as list/,
  )
  t.throws(refused(body({ object: { type: 'object', properties: { inner: any } } })), /text as inner/)
  t.doesNotThrow(refused(body({ id: { type: 'string', pattern: '^[!-~]{1,120}$' }, of: { enum: ['a'] } })))
  t.doesNotThrow(
    refused(body({ name: { type: 'string', format: 'name' }, metadata: { type: 'object', properties: {} } })),
  )
})

t.test('refuses each credential that takes sessions without scopes, and no other', async t => {
  for (const credential of [
    'session',
    'user-key-or-session',
    'session-or-web-token',
    'user-key-web-token-or-session',
  ]) {
    t.throws(refused({ credential, scopes: undefined }), /names no scopes/, credential)
    t.doesNotThrow(refused({ credential, scopes: [] }))
  }
  for (const credential of ['user-key', 'partner-key', 'web-token', 'provider'])
    t.doesNotThrow(refused({ credential, scopes: undefined }), credential)
})

t.test('refuses an operation that spends and does not require an idempotency key', async t => {
  const write = { method: 'POST', write: async () => ({}), handle: undefined, spends: 'spend' }
  for (const spends of ['spend', 'withdrawal', 'card'])
    for (const idempotency of ['optional', 'none'])
      t.throws(
        refused({ ...write, spends, idempotency }),
        /cards.list spends and does not require an idempotency key/,
      )
  t.doesNotThrow(refused({ ...write, idempotency: 'required' }))
  t.doesNotThrow(refused({ ...write, idempotency: undefined }), 'required by default')
  t.doesNotThrow(refused({ ...write, spends: false, idempotency: 'none' }))
})

t.test('takes one name on two surfaces, and one path with two methods', async t => {
  t.doesNotThrow(refused({}, { surface: 'partner', paths: ['/partner/cards'] }))
  t.doesNotThrow(refused({}, { id: 'cards.create', method: 'POST' }))
  t.throws(refused({ paths: ['/a', '/a'] }), /cards.list has the path of another: GET \/a/)
  t.throws(refused({}, { id: 'cards.get', paths: ['/b', '/cards/{id}'] }), /has the path of another/)
  t.doesNotThrow(refused({}, { id: 'cards.get', paths: ['/cards/{id}/{part}'] }))
})

t.test('takes an operation for one that changes credentials by its tag or its response', async t => {
  const accepts = /makes or changes a key or a session/
  for (const id of ['keysets.make', 'cards.keys', 'monkeys.make'])
    t.doesNotThrow(refused({ id, method: 'POST' }))
  t.throws(refused({ id: 'keys.list', response: { properties: { userApiKey: {} } } }), accepts)
  t.throws(refused({ response: { properties: { other: {}, sessionToken: {} } } }), accepts)
  t.doesNotThrow(refused({ response: { properties: { keyId: {} } } }))
})

t.test('takes a body for unconstrained if it is any text, and names the member', async t => {
  t.throws(refused({ body: { type: 'string' } }), /takes any text as body/)
  for (const bound of [{ pattern: 'a' }, { format: 'name' }, { enum: ['a'] }])
    t.doesNotThrow(refused({ body: { type: 'string', ...bound } }))
  const text = { type: 'string' }
  for (const body of [
    { anyOf: [{ type: 'null' }, text] },
    { items: text },
    { properties: { list: { items: text } } },
  ])
    t.throws(refused({ body }), /takes any text as (?:body|list)/)
  t.doesNotThrow(refused({ body: { properties: { n: { type: 'integer' } }, anyOf: [{ type: 'null' }] } }))
})
