// What the revocation of a key does with the cards that this key, and keys below it, made or revealed.
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { bearer, bootstrapUser, newWallet, openTestHost, type HttpResponse } from '../../../harness/host.ts'
import { randomCases } from '../../../harness/random-cases.ts'
import { cardUser, keyBelow } from '../../harness/card-payments.ts'

const host = await openTestHost(t, { RATE_LIMITS: 'off' })
const { send } = host

/** A key with a session. */
interface Holder {
  readonly keyId: string
  readonly token: string
}

/** An account with two keys of its wallet: what is revoked never ends the second. */
async function newOwner(): Promise<{
  readonly root: Holder
  readonly other: Holder
  open(extra?: object): Promise<Holder>
}> {
  const wallet = newWallet()
  const open = async (extra: object = {}): Promise<Holder> => {
    const { key, token } = await bootstrapUser(
      send,
      { sessionTtlSeconds: 86_400, ...extra },
      undefined,
      wallet,
    )
    return { keyId: key.split('_')[3] as string, token }
  }
  const owner = { root: await open(), other: await open(), open }
  await cardUser(send, owner.other.token).fund(10_000)
  return owner
}

const below = (above: Holder): Promise<Holder> => keyBelow(send, above.token, {})
const revoke = (by: Holder, { keyId }: Holder, query = ''): Promise<HttpResponse> =>
  send(`/user/v1/keys/${keyId}${query}`, { method: 'DELETE', headers: bearer(by.token) })
const make = (holder: Holder): Promise<string> => cardUser(send, holder.token).card()
const readCard = async (owner: Holder, id: string): Promise<unknown> =>
  (await send(`/user/v1/cards/${id}`, { headers: bearer(owner.token) })).body.data['card']

/** Opens what reveals cards, and returns the function that reveals one. */
async function opener({ token }: Holder): Promise<(cardId: string) => Promise<number>> {
  const headers = bearer(token)
  const opened = await send('/user/v1/cards/secrets/session', { body: {}, headers })
  const { sessionId } = opened.body.data['secrets'] as { sessionId: string }
  return async cardId =>
    (await send(`/user/v1/cards/${cardId}/secrets`, { body: { sessionId }, headers })).status
}

/** Whether a payment with a card is authorized, whoever asks. */
async function pays(owner: Holder, cardId: string): Promise<boolean> {
  const { status } = await cardUser(send, owner.token).pay(cardId, { amountCents: 1 })
  return status === 'authorized'
}

t.test('locks the cards of a key that another key made, says why, and the owner may unlock them', async t => {
  const { root, other } = await newOwner()
  const leaked = await below(root)
  const [card, own] = [await make(leaked), await make(root)]
  t.equal(await pays(other, card), true)
  t.match(await revoke(root, leaked), {
    status: 200,
    body: { lockedCards: 1, summary: 'The key is revoked. 1 card locked.' },
  })
  t.equal(await pays(other, card), false)
  t.match(await readCard(root, card), {
    status: 'locked',
    lockReason: 'key_revoked',
    keyLineageId: leaked.keyId,
  })
  t.match(await readCard(root, own), { status: 'active', lockReason: null, keyLineageId: root.keyId })
  const listed = await send(`/user/v1/cards?keyLineageId=${leaked.keyId}`, { headers: bearer(root.token) })
  t.match(listed.body.data['cards'], [{ id: card }])
  t.match(await revoke(root, leaked), { status: 200, body: { lockedCards: 0 } }, 'a repeat')
  const headers = { ...bearer(other.token), 'idempotency-key': randomUUID() }
  t.match(await send(`/user/v1/cards/${card}`, { method: 'PATCH', body: { status: 'active' }, headers }), {
    status: 200,
    body: { data: { card: { status: 'active', lockReason: null } } },
  })
  t.equal(await pays(other, card), true)
})

t.test('a card that the owner locks says so', async t => {
  const { root } = await newOwner()
  const headers = { ...bearer(root.token), 'idempotency-key': randomUUID() }
  const path = `/user/v1/cards/${await make(root)}`
  t.match(await send(path, { method: 'PATCH', body: { status: 'locked' }, headers }), {
    body: { data: { card: { status: 'locked', lockReason: 'user' } } },
  })
})

for (const [whose, query, paysAfterwards, body] of [
  ['root', '', true, {}],
  ['root', '?cards=lock', false, { lockedCards: 1 }],
  ['root', '?cards=cancel', false, { canceledCards: 1 }],
  ['root', '?cards=keep', true, {}],
  ['child', '?cards=keep', true, {}],
  ['child', '?cards=cancel', false, { canceledCards: 1 }],
] as const)
  t.test(
    `${whose}, ${query || 'nothing said'}: its cards ${paysAfterwards ? 'go on' : 'pay no more'}`,
    async t => {
      const { root, other } = await newOwner()
      const holder = whose === 'root' ? root : await below(root)
      const card = await make(holder)
      const response = await revoke(root, holder, query)
      t.match(response, { status: 200, body })
      t.same(
        Object.keys(response.body).filter(name => name.endsWith('Cards')),
        Object.keys(body),
      )
      t.equal(await pays(other, card), paysAfterwards)
    },
  )

t.test('PATCH with revoke locks cards in the same way; any other word for cards is denied', async t => {
  const { root, other } = await newOwner()
  const leaked = await below(root)
  const card = await make(leaked)
  for (const query of ['?cards=', '?cards=Lock', '?cards=lock&cards=keep'])
    t.match(await revoke(root, leaked, query), { status: 400, body: { field: 'cards' } }, query)
  t.equal(await pays(other, card), true)
  const path = `/user/v1/keys/${leaked.keyId}`
  const headers = bearer(root.token)
  t.match(await send(path, { method: 'PATCH', body: { revoke: true }, headers }), {
    body: { lockedCards: 1 },
  })
  t.equal(await pays(other, card), false)
})

for (const [query, paysAfterwards, body] of [
  ['', false, { revokedKeys: 1, lockedCards: 2 }],
  ['&cards=lock', false, { lockedCards: 2 }],
  ['&cards=cancel', false, { canceledCards: 2 }],
  ['&cards=keep', true, { revokedKeys: 1 }],
] as const)
  t.test(
    `a session that ends with its keys, ${query || 'nothing said'}: their cards ${paysAfterwards ? 'go on' : 'pay no more'}`,
    async t => {
      const { root, other } = await newOwner()
      const opened = await send('/user/v1/sessions', { body: {}, headers: bearer(root.token) })
      const { sessionToken: token, sessionId } = opened.body.data as Record<string, string>
      const leaked = { keyId: '', token: token as string }
      const key = await below(leaked)
      const [made, own, revealed] = [await make(key), await make(root), await make(root)]
      t.equal(await (await opener(key))(revealed), 200)
      const end = (with_: string) =>
        send(`/user/v1/sessions/${sessionId}?${with_}`, { method: 'DELETE', headers: bearer(root.token) })
      t.match(await end('cards=lock'), { status: 400, body: { field: 'cards' } }, 'it needs keys=revoke')
      const ended = await end(`keys=revoke${query}`)
      t.match(ended, { status: 200, body })
      t.equal(await pays(other, made), paysAfterwards)
      t.equal(await pays(other, revealed), paysAfterwards)
      t.equal(await pays(other, own), true)
      if (!paysAfterwards)
        t.match(await end(`keys=revoke${query}`), { status: 200, body: { ended: 0 } }, 'a repeat')
    },
  )

t.test('a session without cards.write may lock the cards of a key, and not cancel them', async t => {
  const { root, other, open } = await newOwner()
  const leaked = await below(root)
  const card = await make(leaked)
  const limited = await open({ sessionScopes: ['keys.write'] })
  // The wallet's keys are roots, and a root may revoke all keys of the account.
  t.match(await revoke(limited, leaked, '?cards=cancel'), {
    status: 403,
    body: { error: 'insufficient_scope', field: 'cards' },
  })
  t.equal(await pays(other, card), true, 'nothing is revoked')
  t.match(await revoke(limited, leaked, '?cards=lock'), { status: 200, body: { lockedCards: 1 } })
})

/** One step of a tree of keys: a key below another, a card that a key makes, or one that a key reveals. */
const step = fc.record({
  kind: fc.constantFrom('key', 'make', 'reveal'),
  by: fc.nat(5),
  of: fc.nat(5),
})

async function leavesNothingThatPays(
  t: Test,
  steps: readonly { readonly kind: string; readonly by: number; readonly of: number }[],
  revoked: number,
): Promise<void> {
  const { root, other } = await newOwner()
  const keys = [{ holder: root, above: [] as number[] }]
  const cards: { readonly id: string; readonly knownTo: Set<number> }[] = []
  for (const { kind, by, of } of steps) {
    const index = by % keys.length
    const { holder, above } = keys[index] as (typeof keys)[number]
    const card = cards[of % Math.max(cards.length, 1)]
    if (kind === 'key') keys.push({ holder: await below(holder), above: [...above, index] })
    else if (kind === 'make') cards.push({ id: await make(holder), knownTo: new Set([index]) })
    else if (card && (await (await opener(holder))(card.id)) === 200) card.knownTo.add(index)
  }
  const at = revoked % keys.length
  const tree = keys.flatMap(({ above }, index) => (index === at || above.includes(at) ? [index] : []))
  t.equal((await revoke(root, (keys[at] as (typeof keys)[number]).holder, '?cards=lock')).status, 200)
  for (const { id, knownTo } of cards)
    t.equal(
      await pays(other, id),
      !tree.some(index => knownTo.has(index)),
      'exactly what the tree knew is locked',
    )
}

t.test(
  'whatever a tree of keys made or revealed, nothing of it pays after a revocation with lock',
  async t => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 10 }), fc.nat(5), async (steps, revoked) =>
        leavesNothingThatPays(t, steps, revoked),
      ),
      { numRuns: randomCases(12) },
    )
    // Both outcomes for certain: a card that only the owner knows, and one that the leaked key has revealed.
    const tree = [
      { kind: 'key', by: 0, of: 0 },
      { kind: 'make', by: 0, of: 0 },
      { kind: 'make', by: 0, of: 0 },
      { kind: 'reveal', by: 1, of: 1 },
    ]
    await leavesNothingThatPays(t, tree, 1)
  },
)

t.test('requests of the key that run beside its revocation leave no card that pays', async t => {
  const { root, other } = await newOwner()
  const leaked = await below(root)
  const owners = [await make(root), await make(root)]
  const reveal = await opener(leaked)
  const headers = (): Record<string, string> => ({ ...bearer(leaked.token), 'idempotency-key': randomUUID() })
  const makes = Array.from({ length: 6 }, () => send('/user/v1/cards', { body: {}, headers: headers() }))
  const reveals = owners.map(id => reveal(id))
  const [revoked, made, revealed] = await Promise.all([
    revoke(root, leaked),
    Promise.all(makes),
    Promise.all(reveals),
  ])
  t.equal(revoked.status, 200)
  for (const { status, body } of made)
    if (status === 200) t.equal(await pays(other, (body.data['card'] as { id: string }).id), false)
  for (const [index, status] of revealed.entries())
    if (status === 200) t.equal(await pays(other, owners[index] as string), false)
})
