import {
  assertNoShadowing,
  createAliases,
  dueAliases,
  legacyPaths,
  type AliasMode,
  type AliasTable,
} from '@gatewright/legacy-alias-router'
import t from 'tap'

type Pair = readonly [from: string, to: string]
const serve = (pairs: readonly Pair[]) => pairs.map(([from, to]) => ({ from, to, mode: 'serve' as const }))
const makes = (table: AliasTable) => () => createAliases(table)
const prefixes = (...pairs: Pair[]) => makes({ prefixes: serve(pairs) })

t.test('rejects paths that repeat, chain, form a cycle or lead below themselves', async t => {
  t.throws(prefixes(['/a', '/b'], ['/a', '/c']), /prefix:\/a: is listed twice/)
  t.throws(prefixes(['/a', '/b'], ['/b', '/c']), /prefix:\/a: leads to "\/b", which is an old path too/)
  t.throws(prefixes(['/a', '/b'], ['/b', '/a']), /an old path too/)
  t.throws(prefixes(['/a', '/b'], ['/b', '/c'], ['/c', '/a']), /an old path too/)
  t.throws(prefixes(['/a', '/a']), /leads below itself/)
  t.throws(prefixes(['/a', '/a/b']), /leads below itself/)
  t.throws(prefixes(['/a/b', '/a']), /list "\/a\/b\/b" -> "\/a"/)
  t.throws(makes({ prefixes: serve([['/a', '/b']]), paths: serve([['/a', '/c']]) }), /listed twice/)
  t.throws(
    makes({
      paths: serve([
        ['/a', '/b'],
        ['/b', '/c'],
      ]),
    }),
    /an old path too/,
  )
  t.doesNotThrow(prefixes(['/a', '/b'], ['/a/x', '/c'], ['/d', '/b']))
})

t.test(
  'rejects a prefix that leads to a parent of an old path, unless its spelling has a row of its own',
  async t => {
    const prefix = serve([['/consumer', '/user']])
    const inner = (...pairs: Pair[]) => makes({ prefixes: prefix, paths: serve(pairs) })
    t.throws(inner(['/user/signup', '/user/start']), /list "\/consumer\/signup" -> "\/user\/start"/)
    t.throws(inner(['/user/signup', '/user/start'], ['/consumer/signup', '/user/other']), /list/)
    t.doesNotThrow(inner(['/user/signup', '/user/start'], ['/consumer/signup', '/user/start']))
    t.throws(prefixes(['/consumer', '/user'], ['/user/x', '/y']), /list "\/consumer\/x" -> "\/y"/)
    t.doesNotThrow(prefixes(['/consumer', '/user'], ['/user/x', '/y'], ['/consumer/x', '/y']))
  },
)

t.test('rejects other names that repeat or chain, within their kind, operation and surface', async t => {
  t.throws(
    makes({
      headers: serve([
        ['x-a', 'x-b'],
        ['x-b', 'x-c'],
      ]),
    }),
    /header:x-a: leads to "x-b"/,
  )
  t.throws(makes({ headers: serve([['x-a', 'x-a']]) }), /leads to itself/)
  t.throws(
    makes({
      responseFields: serve([
        ['a', 'b'],
        ['a', 'c'],
      ]),
    }),
    /response-field:a: is listed twice/,
  )
  t.throws(
    makes({
      schemes: serve([
        ['A', 'B'],
        ['B', 'A'],
      ]),
    }),
    /an old scheme too/,
  )
  const scope = (surface: string, from: string, to: string | null) => ({
    surface,
    from,
    to,
    mode: 'serve' as const,
  })
  t.throws(
    makes({ scopes: [scope('user', 'a.read', 'b.read'), scope('user', 'b.read', null)] }),
    /scope:user:a.read/,
  )
  t.doesNotThrow(makes({ scopes: [scope('user', 'a.read', 'b.read'), scope('partner', 'b.read', null)] }))
  const field = (operation: string, from: string, to: string) => ({
    operation,
    from,
    to,
    mode: 'serve' as const,
  })
  t.throws(makes({ requestFields: [field('a.b', 'x', 'y'), field('a.b', 'y', 'z')] }), /request-field:a.b:x/)
  t.throws(makes({ requestFields: [field('a.b', 'x.y', 'x')] }), /lies inside/)
  t.throws(
    makes({ requestFields: [field('a.b', 'x.y', 'z'), field('a.b', 'x', 'w')] }),
    /"x" is an old name too/,
  )
  t.doesNotThrow(makes({ requestFields: [field('a.b', 'x', 'y'), field('a.c', 'y', 'z')] }))
})

t.test('rejects malformed names', async t => {
  for (const path of ['a', '/a/', '/a//b', '/a b', '/%61', '', '/a/..', '/./a', '/a;b', '/', '/é']) {
    t.throws(prefixes([path, '/b']), /is not a prefix/, path)
    t.throws(prefixes(['/b', path]), /is not a prefix/, path)
    t.throws(makes({ paths: serve([[path, '/b']]) }), /is not a path/, path)
  }
  t.throws(makes({ headers: serve([['X-Key', 'x-user-key']]) }), /is not a header/)
  t.throws(makes({ responseFields: serve([['__proto__', 'a']]) }), /is not a response-field/)
  t.throws(makes({ scopes: [{ surface: 'user', from: 'a b', to: null, mode: 'serve' }] }), /is not a scope/)
  t.throws(makes({ scopes: [{ surface: '', from: 'a', to: null, mode: 'serve' }] }), /is not a valid surface/)
  t.throws(
    makes({ requestFields: [{ operation: 'a b', from: 'a', to: 'b', mode: 'serve' }] }),
    /is not a valid operation/,
  )
  t.throws(
    makes({ requestFields: [{ operation: 'a', from: 'a', to: 'b.c', mode: 'serve' }] }),
    /is not a request/,
  )
  t.throws(makes({ headers: serve([[`x-${'a'.repeat(200)}`, 'x-b']]) }), /at most 200 characters/)
  t.throws(
    makes({ headers: [{ from: 'x-a', to: null as unknown as string, mode: 'serve' }] }),
    /is not a header/,
  )
})

t.test('rejects dates and links that cannot be sent', async t => {
  const mode = (mode: unknown) => makes({ prefixes: [{ from: '/a', to: '/b', mode: mode as AliasMode }] })
  const since = Date.UTC(2026, 0, 1)
  t.throws(mode('deprecated'), /mode must be/)
  t.throws(mode(undefined), /mode must be/)
  t.throws(mode({}), /epoch milliseconds/)
  t.throws(mode({ deprecatedSince: new Date(since) }), /epoch milliseconds/)
  t.throws(mode({ deprecatedSince: since + 0.5 }), /epoch milliseconds/)
  t.throws(
    mode({ deprecatedSince: since, sunset: since - 1000 }),
    /sunset must not be before deprecatedSince/,
  )
  t.throws(mode({ deprecatedSince: since, sunset: since + 1 }), /whole second/)
  t.doesNotThrow(mode({ deprecatedSince: since, sunset: since }))
  for (const link of [
    'javascript:alert(1)',
    '//elsewhere',
    'docs',
    '/a b',
    '/a>',
    'https://x/<y>',
    '/a\r\nb',
  ]) {
    t.throws(mode({ deprecatedSince: since, link }), /link/, link)
  }
  for (const link of ['/docs/legacy', 'https://example.com/legacy?x=1#y']) {
    t.doesNotThrow(mode({ deprecatedSince: since, link }))
  }
})

t.test('rejects an old path that hides a served path, also with parameters', async t => {
  const table = { prefixes: serve([['/user/v0', '/user/v1']]), paths: serve([['/signup', '/user/v1/start']]) }
  const hides =
    (...served: string[]) =>
    () =>
      assertNoShadowing(table, served)
  t.doesNotThrow(hides('/user/v1/start', '/user/v00', '/user', '/signup/{id}', '/', '/healthz'))
  t.throws(hides('/ok', '/user/v0/keys'), /prefix:\/user\/v0: hides "\/user\/v0\/keys"/)
  t.throws(hides('/user/v0'), /hides/)
  t.throws(hides('/user/{version}/keys'), /hides/)
  t.throws(hides('/user/:version'), /hides/)
  t.throws(hides('/{anything}'), /path:\/signup/)
})

t.test(
  'lists the old spellings of a path, without those that a longer prefix translates differently',
  async t => {
    const table = {
      prefixes: serve([
        ['/consumer', '/user'],
        ['/client', '/user'],
        ['/client/keys', '/elsewhere'],
      ]),
    }
    const spellings = (path: string) => legacyPaths(table, path).map(old => old.path)
    t.same(spellings('/user/keys/{id}'), ['/consumer/keys/{id}'])
    t.same(spellings('/user/cards'), ['/consumer/cards', '/client/cards'])
    t.same(spellings('/user'), ['/consumer', '/client'])
    t.same(spellings('/users'), [])
    t.same(spellings('/elsewhere/x'), ['/client/keys/x'])
    const exact = { paths: serve([['/signup', '/user/start']]) }
    t.match(legacyPaths(exact, '/user/start'), [{ path: '/signup', alias: { id: 'path:/signup' } }])
    t.same(legacyPaths(exact, '/user/start/x'), [])
  },
)

t.test('lists rows past their sunset that still work, the earliest first', async t => {
  const at = (day: number) => Date.UTC(2027, 0, day)
  const mode = (day: number) => ({ deprecatedSince: Date.UTC(2026, 0, 1), sunset: at(day) })
  const table: AliasTable = {
    prefixes: [
      { from: '/late', to: '/x', mode: mode(3) },
      { from: '/early', to: '/x', mode: mode(1) },
      { from: '/off', to: '/x', mode: 'gone' },
      { from: '/on', to: '/x', mode: 'serve' },
      { from: '/open', to: '/x', mode: { deprecatedSince: 0 } },
    ],
  }
  const due = (now: number) => dueAliases(table, now).map(({ alias }) => alias.from)
  t.same(due(at(1) - 1), [])
  t.same(due(at(1)), ['/early'])
  t.same(due(at(9)), ['/early', '/late'])
})
