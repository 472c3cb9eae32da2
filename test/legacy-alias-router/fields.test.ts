import { createAliases } from '@gatewright/legacy-alias-router'
import type { TranslatedFields } from '#packages/legacy-alias-router/dist/fields.js'
import t from 'tap'

const aliases = createAliases({
  requestFields: [
    { operation: 'users.resolve', from: 'externalUserId', to: 'userId', mode: 'serve' },
    {
      operation: 'users.resolve',
      from: 'wallet.address',
      to: 'walletAddress',
      ignoreCase: true,
      mode: 'serve',
    },
    { operation: 'users.resolve', from: 'formerId', to: 'userId', mode: 'gone' },
  ],
  responseFields: [
    { from: 'consumerApiKey', to: 'userApiKey', mode: 'serve' },
    { from: 'apiKey', to: 'userApiKey', mode: 'gone' },
  ],
})
const read = (body: Record<string, unknown>, operation = 'users.resolve') =>
  aliases.readFields(operation, body)
function fields(body: Record<string, unknown>): TranslatedFields {
  const verdict = read(body)
  if (!verdict.ok) throw new Error(verdict.message)
  return verdict.value
}

t.test('reads an old field under its current name, only in the listed operation', async t => {
  const given = Object.freeze({ externalUserId: 'ann', other: 1 })
  t.same(fields(given).body, { userId: 'ann', other: 1 })
  t.same(fields(given).used[0]?.alias.id, 'request-field:users.resolve:externalUserId')
  t.same(read(given, 'users.update'), { ok: true, value: { body: given, used: [] } })
  t.same(fields({ userId: 'ann' }), { body: { userId: 'ann' }, used: [] })
})

t.test('copies an old field out of an object, and keeps the object', async t => {
  const wallet = { chain: 'evm', address: '0xAB' }
  t.same(fields({ wallet }).body, { wallet, walletAddress: '0xAB' })
  for (const wallet of [null, 'text', 7, [], {}, { address: null }]) {
    t.same(fields({ wallet }), { body: { wallet }, used: [] })
  }
})

t.test('accepts equal values under the old and the current name, and denies different ones', async t => {
  t.same(fields({ userId: 'ann', externalUserId: 'ann' }).body, { userId: 'ann' })
  t.same(fields({ walletAddress: '0xab', wallet: { address: '0xAB' } }).body['walletAddress'], '0xab')
  t.match(read({ userId: 'ann', externalUserId: 'ANN' }), {
    ok: false,
    code: 'invalid_request',
    status: 400,
    field: 'userId',
    used: [{ alias: { from: 'externalUserId' } }],
  })
  t.match(read({ walletAddress: '0xab', wallet: { address: '0xcd' } }), { field: 'walletAddress' })
  t.same(fields({ userId: { a: 1 }, externalUserId: { a: 1 } }).body, { userId: { a: 1 } })
})

t.test('removes an old field at the top level even if its value is not used', async t => {
  t.same(fields({ userId: 'ann', externalUserId: null }).body, { userId: 'ann' })
  t.same(
    fields({ userId: 'ann', formerId: 'bob' }).body,
    { userId: 'ann' },
    'gone, sent with its current name',
  )
  t.same(fields({ userId: 'ann', formerId: null }).body, { userId: 'ann' })
})

t.test('knows the operations whose bodies have old names', async t => {
  t.ok(aliases.renamesFields('users.resolve'))
  t.notOk(aliases.renamesFields('users.update'))
})

t.test('treats null as absent under the old and the current name', async t => {
  t.same(fields({ userId: null, externalUserId: 'ann' }).body, { userId: 'ann' })
  t.same(fields({ userId: 'ann', externalUserId: null }).used, [])
})

t.test('denies with 410 a field that is gone, unless its current name was sent too', async t => {
  t.match(read({ formerId: 'ann' }), { ok: false, code: 'gone', status: 410, field: 'formerId' })
  const beside = fields({ formerId: 'eve', userId: 'ann' })
  t.equal(beside.body['userId'], 'ann')
  t.equal(beside.used.length, 1)
})

t.test('reads own properties only, and keeps __proto__ unchanged', async t => {
  const body = JSON.parse('{"__proto__": {"externalUserId": "eve"}, "constructor": 1}') as Record<
    string,
    unknown
  >
  const { body: out, used } = fields(body)
  t.same(used, [])
  t.equal(JSON.stringify(out), JSON.stringify(body))
})

t.test('adds the old name of each renamed response field, except those that are gone', async t => {
  t.same(aliases.withLegacyFields({ userApiKey: 'k', id: 1 }), {
    userApiKey: 'k',
    consumerApiKey: 'k',
    id: 1,
  })
  t.same(aliases.withLegacyFields({ id: 1 }), { id: 1 })
  const other = { userApiKey: 'k', consumerApiKey: { with: 'another meaning' } }
  t.same(aliases.withLegacyFields(other), other, 'a field of that name stays as it is')
})
