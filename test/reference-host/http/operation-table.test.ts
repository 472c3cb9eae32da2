import { checkTable, type Operation } from '@gatewright/reference-host'
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
  return () => checkTable(table)
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
