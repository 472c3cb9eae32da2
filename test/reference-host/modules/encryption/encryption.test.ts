import t from 'tap'
import { bearer, bootstrapUser, openTestHost, type HttpResponse } from '../../../harness/host.ts'
import { partnerUser } from '../../harness/partner.ts'

const host = await openTestHost(t, { RATE_LIMITS: 'off' })
const { token } = await bootstrapUser(host.send)
const ask = (verb: string, items: unknown, by = token): Promise<HttpResponse> =>
  host.send(`/user/v1/crypto/${verb}`, { body: { items }, headers: bearer(by) })
const itemsOf = ({ body }: HttpResponse): Record<string, unknown>[] =>
  body.data['items'] as Record<string, unknown>[]
const SCOPES = ['encryption.read', 'encryption.write']

t.test('encrypts a batch and decrypts it, in the order of the request', async t => {
  const items = Array.from({ length: 100 }, (_, n) => ({ id: `id ${n % 90}`, value: `Zoé ${n}` }))
  const encrypted = await ask('encrypt', items)
  t.equal(encrypted.status, 200)
  t.same(encrypted.body['items'], itemsOf(encrypted), 'repeated at the top level')
  t.same(
    itemsOf(encrypted).map(({ id, ok }) => ({ id, ok })),
    items.map(({ id }) => ({ id, ok: true })),
  )
  const back = await ask('decrypt', itemsOf(encrypted))
  t.same(
    itemsOf(back),
    items.map(({ id, value }) => ({ id, ok: true, value })),
  )
})

t.test('a bad item fails alone', async t => {
  const [made] = itemsOf(await ask('encrypt', [{ id: 'a', value: 'mine' }]))
  const { encrypted } = made as { encrypted: { ct: string } }
  t.same(
    itemsOf(await ask('encrypt', [{ id: 'a', value: 'x'.repeat(4097) }, { id: 'b' }, { id: 'c', value: 7 }])),
    [
      { id: 'a', ok: false, error: 'too_long' },
      { id: 'b', ok: false, error: 'malformed' },
      { id: 'c', ok: false, error: 'malformed' },
    ],
  )
  const changed = { ...encrypted, ct: `AAAA${encrypted.ct.slice(4)}` }
  const response = await ask('decrypt', [
    { id: 'a', encrypted },
    { id: 'b', encrypted: changed },
    { id: 'c', encrypted: 'text' },
  ])
  t.match(response, { status: 200, body: { summary: '1 items done, 2 failed.' } })
  t.same(itemsOf(response), [
    { id: 'a', ok: true, value: 'mine' },
    { id: 'b', ok: false, error: 'undecryptable' },
    { id: 'c', ok: false, error: 'malformed' },
  ])
})

t.test('denies an empty list, a long one, and an item without an id', async t => {
  for (const verb of ['encrypt', 'decrypt']) {
    for (const items of [undefined, [], Array.from({ length: 101 }, () => ({ id: 'a' })), 'text'])
      t.match(await ask(verb, items), { status: 400, body: { error: 'invalid_request', field: 'items' } })
    for (const id of [undefined, '', 'x'.repeat(121), 7])
      t.match(await ask(verb, [{ id }]), { status: 400, body: { field: 'items.0.id' } })
  }
})

t.test('no account opens what another encrypted, on whichever surface', async t => {
  const [made] = itemsOf(await ask('encrypt', [{ id: 'a', value: 'mine' }]))
  const { encrypted } = made as { encrypted: object }
  const other = await bootstrapUser(host.send)
  const denied = [{ id: 'a', ok: false, error: 'undecryptable' }]
  t.same(itemsOf(await ask('decrypt', [{ id: 'a', encrypted }], other.token)), denied, 'without a key')
  await ask('encrypt', [{ id: 'a', value: 'x' }], other.token)
  t.same(itemsOf(await ask('decrypt', [{ id: 'a', encrypted }], other.token)), denied, 'with one')
  const partner = await partnerUser(host, 'ann', SCOPES)
  const response = await partner('/partner/v1/encryption/decrypt', { body: { value: encrypted } })
  t.match(response, { status: 400, body: { error: 'invalid_request', field: 'value' } })
})

t.test('a session of a partner encrypts and decrypts one text, for every session of that user', async t => {
  const [one, again, other] = await Promise.all(
    ['bob', 'bob', 'cid'].map(userId => partnerUser(host, userId, SCOPES)),
  )
  const path = '/partner/v1/encryption'
  const made = await one!(`${path}/encrypt`, { body: { value: 'mine' } })
  t.match(made, { status: 200, body: { data: { value: { v: 1, iv: /^[\w-]{16}$/, ct: /^[\w-]+$/ } } } })
  const { value } = made.body.data
  t.same((await again!(`${path}/decrypt`, { body: { value } })).body.data, { value: 'mine' })
  const denied = { status: 400, body: { error: 'invalid_request', field: 'value' } }
  t.match(await other!(`${path}/decrypt`, { body: { value } }), denied)
  t.match(await one!(`${path}/encrypt`, { body: { value: 'x'.repeat(4097) } }), denied)
  t.match(await one!(`${path}/encrypt`, { body: { value: '' } }), { status: 200 })
})

t.test('encrypting and decrypting need a scope each', async t => {
  const narrow = await partnerUser(host, 'dan', ['encryption.write'])
  const made = await narrow('/partner/v1/encryption/encrypt', { body: { value: 'mine' } })
  t.equal(made.status, 200)
  t.match(await narrow('/partner/v1/encryption/decrypt', { body: made.body.data }), {
    status: 403,
    body: { error: 'insufficient_scope', scope: 'encryption.read' },
  })
  t.same(host.failures, [])
})
