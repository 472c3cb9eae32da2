import { createAliases, type AliasTable } from '@gatewright/legacy-alias-router'
import type { ResolvedRequest } from '#packages/legacy-alias-router/dist/resolve.js'
import fc from 'fast-check'
import t from 'tap'
import { holds } from '../harness/holds.ts'

const deprecated = { deprecatedSince: Date.UTC(2026, 0, 1) }
const table: AliasTable = {
  prefixes: [
    { from: '/consumer/v1', to: '/user/v1', mode: deprecated },
    { from: '/old', to: '/new', mode: 'serve' },
    { from: '/old/very', to: '/newest', mode: deprecated },
    { from: '/former', to: '/user/v1', mode: 'gone' },
  ],
  paths: [
    { from: '/old/very/exact', to: '/new/exact', mode: 'serve' },
    { from: '/signup', to: '/user/v1/bootstrap', mode: deprecated },
  ],
  headers: [
    { from: 'x-consumer-key', to: 'x-user-key', mode: 'serve' },
    { from: 'x-former-key', to: 'x-user-key', mode: 'gone' },
  ],
}
const aliases = createAliases(table)

function resolve(path: string, headers: Record<string, string> = {}): ResolvedRequest {
  const verdict = aliases.resolve({ path, header: name => headers[name] })
  if (!verdict.ok) throw new Error(verdict.code)
  return verdict.value
}
const idsOf = ({ used }: Pick<ResolvedRequest, 'used'>): string[] => used.map(({ alias }) => alias.id)

t.test('translates a legacy prefix by whole segments', async t => {
  const resolved = resolve('/consumer/v1/keys/7')
  t.equal(resolved.path, '/user/v1/keys/7')
  t.same(idsOf(resolved), ['prefix:/consumer/v1'])
  t.equal(resolved.used[0]?.successor, '/user/v1/keys/7')
  t.equal(resolve('/consumer/v1').path, '/user/v1')
  t.equal(resolve('/consumer/v1/').path, '/user/v1/')
  for (const path of [
    '/consumer/v10',
    '/consumer',
    '/consumer/v',
    '/x/consumer/v1',
    '/Consumer/v1',
    '/user/v1',
    '/',
  ]) {
    t.match(resolve(path), { path, used: [] }, path)
  }
})

t.test('uses an exact path first, then the longest legacy prefix', async t => {
  t.equal(resolve('/old/thing').path, '/new/thing')
  t.equal(resolve('/old/very/thing').path, '/newest/thing')
  t.equal(resolve('/old/very').path, '/newest')
  t.equal(resolve('/old/very/exact').path, '/new/exact')
  t.equal(resolve('/old/very/exact/more').path, '/newest/exact/more')
  t.equal(resolve('/signup').path, '/user/v1/bootstrap')
  for (const path of ['/signup/', '/signup/x', '/signups']) t.equal(resolve(path).path, path)
})

t.test('never translates a path that routers could read differently', async t => {
  for (const path of [
    '/consumer/v1/%2e%2e/x',
    '/consumer/v1/a%2Fb',
    '/consumer/v1/a%5cb',
    '/consumer/v1//keys',
    '/consumer/v1//',
    '//consumer/v1/keys',
    '/consumer/v1/../keys',
    '/consumer/v1/.',
    '/consumer/v1/keys;a=b',
    '/consumer/v1;a/keys',
    '/consumer/v1\\keys',
    '/consumer/v1/\\',
    '/consumer/v1/%zz',
    '/consumer/v1/%',
    '/consumer/v1/%c3',
    '/consumer/v1/%ff',
    '/consumer/v1/%00',
    '/consumer/v1/%0d%0a',
    '/consumer/v1/%7f',
    '/consumer/v1/keys#part',
    '/consumer/v1/a b',
    '/consumer/v1/a\tb',
    '/consumer/v1/\u00a0',
    '/consumer/v1/é',
    '/consumer/v1/"<>',
    '/%63onsumer/v1/keys',
    '/consumer%2Fv1/keys',
    'http://other/consumer/v1',
    'consumer/v1',
    '*',
    '',
  ]) {
    t.match(resolve(path), { path, used: [] }, path)
  }
  for (const tail of ['%20', '%c3%a9', '%3B', '%41', "!$&'()*+,=:@-._~", '...', 'a..b', '.a']) {
    t.equal(resolve(`/consumer/v1/${tail}`).path, `/user/v1/${tail}`)
  }
})

t.test('changes only the legacy prefix, and nothing that follows it', async t => {
  const tail = fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.webPath({ size: 'medium' }))
  await holds(
    t,
    fc.property(tail, tail => {
      const { path, used } = resolve(`/consumer/v1/${tail}`)
      return used.length === 0 ? path === `/consumer/v1/${tail}` : path === `/user/v1/${tail}`
    }),
  )
})

t.test('reads a legacy header under its current name, and denies different values', async t => {
  t.equal(resolve('/x', { 'x-consumer-key': 'k' }).headers['x-user-key'], 'k')
  t.equal(resolve('/x', { 'x-consumer-key': 'k', 'x-user-key': 'k' }).headers['x-user-key'], 'k')
  t.same(idsOf(resolve('/x', { 'x-consumer-key': 'k' })), ['header:x-consumer-key'])
  t.equal(resolve('/x').headers['constructor'], undefined)
  const both: Record<string, string> = { 'x-consumer-key': 'k', 'x-user-key': 'l' }
  t.match(aliases.resolve({ path: '/consumer/v1', header: name => both[name] }), {
    ok: false,
    code: 'invalid_request',
    status: 400,
    field: 'x-user-key',
    used: [{ alias: { id: 'header:x-consumer-key' } }],
  })
})

t.test('denies with 410 a name that is gone, and says what to use', async t => {
  const gone = (path: string, headers: Record<string, string> = {}) =>
    aliases.resolve({ path, header: name => headers[name] })
  t.match(gone('/former/keys'), {
    ok: false,
    code: 'gone',
    status: 410,
    message: '/former is gone: use /user/v1',
    used: [{ alias: { id: 'prefix:/former' }, successor: '/user/v1/keys' }],
  })
  t.match(gone('/x', { 'x-former-key': 'k' }), {
    ok: false,
    code: 'gone',
    status: 410,
    field: 'x-former-key',
    used: [{ alias: { id: 'header:x-former-key' } }],
  })
  const beside = gone('/x', { 'x-former-key': 'old', 'x-user-key': 'k' })
  t.match(beside, { ok: true, value: { headers: {}, used: [{ alias: { mode: 'gone' } }] } })
})
