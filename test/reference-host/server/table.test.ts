import { checkTable, type Operation } from '@gatewright/reference-host'
import t from 'tap'

const sound = {
  ...{ id: 'cards.list', title: 'List', surface: 'user', method: 'GET', paths: ['/cards/{id}'] },
  ...{ credential: 'session', scopes: [], answer: {}, handle: async () => ({ ok: true, value: {} }) },
} as unknown as Operation
const refused = (change: object, ...others: object[]): (() => void) => {
  const table = [{ ...sound, ...change }, ...others.map(other => ({ ...sound, ...other }))] as Operation[]
  return () => checkTable(table)
}

t.test('takes a table whose operations all have a rule', async t => {
  t.doesNotThrow(refused({}, { id: 'cards.get', method: 'POST' }))
})

t.test('refuses to start with an operation that has none, and names it', async t => {
  t.throws(refused({ credential: undefined }), /operation cards.list names no credential/)
  t.throws(refused({ scopes: undefined }), /operation cards.list names no scopes/)
  t.throws(refused({ credential: 'none' }), /operation cards.list is open to anyone and has no limit/)
  const open = { credential: 'none', surface: 'public' }
  t.throws(refused(open), /operation cards.list is open to anyone and has no limit/)
  t.doesNotThrow(refused({ ...open, limit: 'none' }), 'unless it says so')
  t.throws(refused({ id: 'cards' }), /operation cards must be named tag.verb/)
  t.throws(refused({ paths: [] }), /has no path/)
})

t.test('refuses two operations of one name or of one path', async t => {
  t.throws(refused({}, { paths: ['/other'] }), /cards.list is listed twice/)
  t.throws(refused({}, { id: 'cards.get', paths: ['/cards/{cardId}'] }), /cards.get has the path of another/)
})
