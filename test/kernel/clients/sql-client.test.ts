import { inspect } from 'node:util'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'
import t from 'tap'

const malformed = { name: 'Fault', code: 'ERR_STORE_REPLY' }
const responding = (reply: unknown): SqlQueries => ({
  dialect: 'sqlite',
  query: async () => reply as { rows: [] },
})

t.test('returns the rows of a reply, and passes text and values to the database', async t => {
  const queries: unknown[] = []
  const db: SqlQueries = {
    dialect: 'sqlite',
    query: async (...given) => {
      queries.push(given)
      return { rows: [{ id: 1 }] }
    },
  }
  t.same(await rows(db, 'select $1', ['x']), [{ id: 1 }])
  t.same(await rows(db, 'select 1'), [{ id: 1 }])
  t.same(queries, [
    ['select $1', ['x']],
    ['select 1', []],
  ])
})

t.test('throws a fault for a reply without rows', async t => {
  for (const reply of [undefined, null, 'OK', 1, [], {}, { rows: null }, { rows: 'none' }, { rows: {} }]) {
    await t.rejects(rows(responding(reply), 'select 1'), malformed)
  }
})

t.test('throws a fault when the database throws', async t => {
  const cause = new Error('terminated')
  const db: SqlQueries = { dialect: 'sqlite', query: () => Promise.reject(cause) }
  await t.rejects(rows(db, 'select 1'), { name: 'Fault', code: 'ERR_STORE_UNAVAILABLE', cause })
})

t.test('reads integers as numbers, bigints and digits', async t => {
  for (const value of [0, 42, -42, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) {
    t.equal(toInteger(value), value)
    t.equal(toInteger(BigInt(value)), value)
    t.equal(toInteger(String(value)), value)
    t.equal(toInteger({ toString: () => String(value) }), value, 'of a library of decimals')
  }
})

t.test('throws a fault for anything but a safe integer', async t => {
  const wrong = [
    undefined,
    null,
    true,
    1.5,
    NaN,
    Infinity,
    2 ** 53,
    2n ** 53n,
    '9007199254740993',
    'zzz',
    '1.5',
    '0x10',
    '1e3',
    '',
    ' ',
    ' 1',
    '1\n',
    [],
    [1],
    {},
    new Date(0),
  ]
  for (const value of wrong) t.throws(() => toInteger(value), malformed, inspect(value))
})

t.test('reads text, and throws a fault for anything else', async t => {
  t.equal(toText(''), '')
  t.equal(toText('x'), 'x')
  for (const value of [undefined, null, 1, 1n, Buffer.from('x'), ['x']])
    t.throws(() => toText(value), malformed)
})
