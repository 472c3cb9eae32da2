import t, { type Test } from 'tap'
import { partnerOwner, sessionOwner, userOwner, type CardOwner } from '../../harness/cards.ts'
import { openTestHost, sessionOf } from '../../../harness/host.ts'

const host = await openTestHost(t, { RATE_LIMITS: 'off' })
const NOTE = { v: 1, iv: 'q83vASNFZ4mrze8B', ct: 'Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6' }

/** Runs a test with an owner of each surface. */
function onBoth(title: string, run: (t: Test, owner: CardOwner, limit: Limit) => Promise<void>): void {
  void t.test(`${title} (user)`, async t =>
    run(t, await userOwner(host), (amount, frequency) => ({ amount, ...(frequency ? { frequency } : {}) })),
  )
  void t.test(`${title} (partner)`, async t =>
    run(t, await partnerOwner(host), (amountCents, frequency) => ({
      amountCents,
      ...(frequency ? { frequency } : {}),
    })),
  )
}
type Limit = (amount: number, frequency?: string) => object

onBoth('makes a card, reads it, lists it, and never shows its number', async (t, owner, limit) => {
  const card = await owner.make({ limit: limit(5000), encryptedName: NOTE })
  t.match(card, {
    status: 'active',
    brand: 'visa',
    last4: /^\d{4}$/,
    encryptedName: NOTE,
    encryptedMemo: null,
    limit: { ...limit(5000), frequency: 'per30DayPeriod' },
  })
  t.match(owner.idOf(card), /^card_/)
  const read = await owner.call(`/cards/${owner.idOf(card)}`)
  t.match(owner.cardOf(read), card)
  const listed = await owner.call('/cards?limit=100')
  t.same((listed.body.data['cards'] as object[]).at(-1), owner.cardOf(read))
  t.equal((await owner.call('/cards/card_none')).status, 404)
})

onBoth('makes one card for one idempotency key', async (t, owner) => {
  const count = async (): Promise<number> =>
    ((await owner.call('/cards?limit=100')).body.data['cards'] as object[]).length
  const before = await count()
  const headers = { 'idempotency-key': 'the-same-key' }
  const all = await Promise.all(Array.from({ length: 5 }, () => owner.call('/cards', { body: {}, headers })))
  const ids = all.filter(({ status }) => status === 200).map(response => owner.idOf(owner.cardOf(response)))
  t.equal(new Set(ids).size, 1)
  t.equal(await count(), before + 1)
})

onBoth('follows the state table, and says the state that does not allow it', async (t, owner, limit) => {
  const id = owner.idOf(await owner.make({ limit: limit(5000) }))
  const change = (body: object) => owner.call(`/cards/${id}`, { method: 'PATCH', body })
  const statusAfter = async (status: string): Promise<unknown> =>
    owner.cardOf(await change({ status }))['status']
  const notActivated = owner.surface === 'user' ? 'notActivated' : 'not_activated'
  const wrong =
    owner.surface === 'user'
      ? { status: 400, body: { error: 'invalid_request', field: 'status' } }
      : { status: 409, body: { error: 'invalid_state', field: 'status' } }
  t.match(await change({ status: notActivated }), wrong)
  t.equal(await statusAfter('locked'), 'locked')
  t.equal(await statusAfter('locked'), 'locked')
  t.equal(await statusAfter('active'), 'active')
  t.match(owner.cardOf(await change({ limit: null, encryptedMemo: NOTE })), {
    limit: null,
    encryptedMemo: NOTE,
  })
  t.match(owner.cardOf(await change({ encryptedMemo: null })), { encryptedMemo: null })
  t.equal(await statusAfter('canceled'), 'canceled')
  t.equal(await statusAfter('canceled'), 'canceled')
  for (const status of ['active', 'locked', notActivated]) t.match(await change({ status }), wrong)
  t.match(await change({}), { status: 400, body: { error: 'invalid_request' } })
  t.match(await change({ limit: limit(0) }), { status: 400 })
  t.equal((await owner.call('/cards/card_none', { method: 'PATCH', body: { status: 'locked' } })).status, 404)
})

onBoth('cancels for good, also twice', async (t, owner) => {
  const id = owner.idOf(await owner.make())
  const cancel = () =>
    owner.surface === 'user'
      ? owner.call(`/cards/${id}/delete-now`, { method: 'POST' })
      : owner.call(`/cards/${id}`, { method: 'DELETE' })
  const first = await cancel()
  t.equal(first.status, 200)
  t.same((await cancel()).body.data, first.body.data)
  if (owner.surface === 'user') t.match(owner.cardOf(first), { status: 'canceled', cancelReason: 'user' })
  else t.match(first.body.data, { cardId: id, status: 'canceled', deletedAt: String })
  const listed = (await owner.call('/cards?limit=100')).body.data['cards'] as Record<string, unknown>[]
  t.equal(
    listed.some(card => owner.idOf(card) === id),
    owner.surface === 'partner',
    'users see open cards',
  )
})

onBoth(
  'responds with a denial when the issuer rejects a card or is down, and makes the card once it is up',
  async (t, owner, limit) => {
    const make = (amount: number) =>
      owner.call('/cards', {
        body: { limit: limit(amount) },
        headers: { 'idempotency-key': `amount-${amount}` },
      })
    t.match(await make(1_000_003), {
      status: owner.surface === 'user' ? 400 : 409,
      body: { reason: 'issuer_refused', field: 'limit' },
    })
    t.match(await make(1_000_004), { status: 503, body: { error: 'service_unavailable' } })
    t.equal((await make(1_000_004)).status, 200)
    host.failures.length = 0
  },
)

onBoth('keeps notes of up to 684 characters, and denies longer ones', async (t, owner) => {
  const noteOf = (length: number) => ({ ...NOTE, ct: 'a'.repeat(length) })
  for (const name of ['encryptedName', 'encryptedColor', 'encryptedEmoji', 'encryptedMemo']) {
    t.match(await owner.make({ [name]: noteOf(684) }), { [name]: noteOf(684) })
    const headers = { 'idempotency-key': `too-long-${name}` }
    const denied = await owner.call('/cards', { body: { [name]: noteOf(685) }, headers })
    t.match(denied, { status: 400, body: { error: 'invalid_request', field: new RegExp(`^${name}`) } })
  }
})

t.test('revoking a key with cards=cancel cancels the cards of it and of keys below it', async t => {
  const owner = await userOwner(host)
  const below = async (parent: CardOwner): Promise<CardOwner & { id: string }> => {
    const key = await parent.call('/keys', { body: {} })
    return {
      ...sessionOwner(host, await sessionOf(host.send, key.body['userApiKey'] as string)),
      id: key.body['userKeyId'] as string,
    }
  }
  const child = await below(owner)
  const grandchild = await below(child)
  const [own, its, lower] = [await owner.make(), await child.make(), await grandchild.make()].map(owner.idOf)
  const revoke = (by: CardOwner, query: string) => by.call(`/keys/${child.id}${query}`, { method: 'DELETE' })
  t.match(await revoke(owner, '?cards=all'), { status: 400, body: { field: 'cards' } })
  const withoutCards = sessionOwner(host, await sessionOf(host.send, owner.key, { scopes: ['keys.write'] }))
  t.match(await revoke(withoutCards, '?cards=cancel'), { status: 403, body: { error: 'insufficient_scope' } })
  t.equal((await revoke(owner, '?cards=cancel')).status, 200)
  const statuses = await Promise.all(
    [own, its, lower].map(async id => owner.cardOf(await owner.call(`/cards/${id}`))['status']),
  )
  t.same(statuses, ['active', 'canceled', 'canceled'])
  t.same(host.failures, [])
})
