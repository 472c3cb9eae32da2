import { createAliases, type AliasTable, type Resolved } from '@gatewright/legacy-alias-router'
import fc from 'fast-check'
import t from 'tap'

const deprecated = { deprecatedSince: Date.UTC(2026, 0, 1) }
const table: AliasTable = {
  paths: [
    { from: '/consumer/v1', to: '/user/v1', mode: deprecated },
    { from: '/old', to: '/new', mode: 'serve' },
    { from: '/old/very', to: '/newest', mode: { deprecatedSince: Date.UTC(2020, 0, 1) } },
  ],
  headers: [{ from: 'x-consumer-key', to: 'x-user-key', mode: 'serve' }],
  answerTwins: { userApiKey: 'consumerApiKey' },
  retiredScopes: { user: ['gone.read'] },
}
const aliases = createAliases(table)

function resolve(path: string, headers: Record<string, string> = {}): Resolved {
  const verdict = aliases.resolve({ path, header: name => headers[name] })
  if (!verdict.ok) throw new Error(verdict.code)
  return verdict.value
}

t.test('renames a legacy prefix by whole segments and says since when it is deprecated', async t => {
  t.match(resolve('/consumer/v1/keys/7'), {
    path: '/user/v1/keys/7',
    used: ['/consumer/v1'],
    answerHeaders: [['Deprecation', '@1767225600']],
  })
  t.equal(resolve('/consumer/v1').path, '/user/v1')
  t.equal(resolve('/consumer/v1/').path, '/user/v1/')
  for (const path of [
    '/consumer/v10',
    '/consumer',
    '/consumer/v',
    '/x/consumer/v1',
    '/Consumer/v1',
    '/user/v1',
  ]) {
    t.match(resolve(path), { path, used: [], answerHeaders: [] })
  }
})

t.test('takes the longest legacy prefix, and the oldest date of all names used', async t => {
  t.equal(resolve('/old/thing').path, '/new/thing')
  t.same(resolve('/old/thing').answerHeaders, [])
  t.match(resolve('/old/very/thing'), {
    path: '/newest/thing',
    answerHeaders: [['Deprecation', '@1577836800']],
  })
})

t.test('never renames a path that can be read in two ways', async t => {
  for (const path of [
    '/consumer/v1/%2e%2e/x',
    '/consumer/v1/a%2Fb',
    '/consumer/v1/a%5cb',
    '/consumer/v1//keys',
    '//consumer/v1/keys',
    '/consumer/v1/../keys',
    '/consumer/v1/.',
    '/consumer/v1/keys;a=b',
    '/consumer/v1\\keys',
    '/consumer/v1/%zz',
    '/consumer/v1/%',
    'http://other/consumer/v1',
    'consumer/v1',
    '',
  ]) {
    t.match(resolve(path), { path, used: [] }, path)
  }
})

t.test('only ever touches a legacy prefix: what follows it stays byte for byte', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), tail => {
      const { path, used } = resolve(`/consumer/v1/${tail}`)
      return used.length === 0 ? path === `/consumer/v1/${tail}` : path === `/user/v1/${tail}`
    }),
  )
})

t.test('reads a legacy header under its current name, and refuses two that differ', async t => {
  t.same(resolve('/x', { 'x-consumer-key': 'k' }).headers, { 'x-user-key': 'k' })
  t.same(resolve('/x', { 'x-consumer-key': 'k', 'x-user-key': 'k' }).headers, { 'x-user-key': 'k' })
  const both: Record<string, string> = { 'x-consumer-key': 'k', 'x-user-key': 'l' }
  t.match(aliases.resolve({ path: '/x', header: name => both[name] }), {
    ok: false,
    code: 'invalid_request',
    status: 400,
    field: 'x-user-key',
  })
})

t.test('adds the twin of each answer field that has one, and no other', async t => {
  t.same(aliases.withTwins({ userApiKey: 'k', id: 1 }), { userApiKey: 'k', consumerApiKey: 'k', id: 1 })
  t.same(aliases.withTwins({ id: 1 }), { id: 1 })
})

t.test('puts retired scopes aside, each once, by surface', async t => {
  const asked = ['a.read', 'gone.read', 'a.read', 'gone.read']
  t.same(aliases.sortScopes('user', asked), { scopes: ['a.read'], ignored: ['gone.read'] })
  t.same(aliases.sortScopes('partner', asked), { scopes: ['a.read', 'gone.read'], ignored: [] })
})

t.test('refuses a table with repeats, chains, cycles or misspelt names', async t => {
  const wrong = (paths: [string, string][]): (() => unknown) => {
    const renames = paths.map(([from, to]) => ({ from, to, mode: 'serve' as const }))
    return () => createAliases({ ...table, paths: renames })
  }
  t.throws(
    wrong([
      ['/a', '/b'],
      ['/a', '/c'],
    ]),
    /twice/,
  )
  t.throws(
    wrong([
      ['/a', '/b'],
      ['/b', '/c'],
    ]),
    /itself a legacy/,
  )
  t.throws(
    wrong([
      ['/a', '/b'],
      ['/b', '/a'],
    ]),
    /itself a legacy/,
  )
  t.throws(wrong([['/a', '/a/b']]), /below itself/)
  for (const path of ['a', '/a/', '/a//b', '/a b', '/%61', '']) t.throws(wrong([[path, '/b']]), /not a path/)
})
