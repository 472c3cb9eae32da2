// The operations on card payments, called without a host around them: the list, and what a sandbox simulates.
import type { Operation } from '@gatewright/host'
import { ledgerAccounts } from '@gatewright/host/internal'
import t from 'tap'
import { NEW_CARD } from '../card-bench.ts'
import * as internals from '../../../../harness/internals.ts'
import { openMoney, type OperationRequest, type OperationResult } from '../../../harness/money-operations.ts'
import { uniqueName } from '../../../../harness/stores.ts'

const { db, clock, services, addAccount, balance, run } = await openMoney(t)
const { guard, ledger, money, spendStorage } = services
const authorizations = internals.authorizations({ guard, ledger, money, spendStorage, count: () => {} })
const cardKeyPolicies = { read: async () => [], keep: async () => {} }
const own = { ...services, authorizations, cardKeyPolicies } as unknown as typeof services
const all = internals.authorizationOperations(own)
const SURFACES = ['user', 'partner'] as const
type Surface = (typeof SURFACES)[number]
const call = (
  accountId: string,
  id: string,
  request: OperationRequest = {},
  surface: Surface = 'user',
): Promise<OperationResult> => {
  const found = all.find(each => each.id === `cards.${id}` && each.surface === surface) as Operation
  return run(found, accountId, request)
}
async function card(accountId: string, more: object = {}): Promise<string> {
  const id = `card_${uniqueName()}`
  await db.transaction(tx =>
    internals.cards.insert(tx, accountId, [{ ...NEW_CARD, ...more, id }], clock.now()),
  )
  return id
}
async function pay(
  accountId: string,
  body: object,
  surface: Surface = 'user',
): Promise<NonNullable<OperationResult['data']>> {
  const { data, ...denial } = await call(accountId, 'simulateAuthorization', { body }, surface)
  if (!data) throw new Error(JSON.stringify(denial))
  return data['authorization']
}
const ENDINGS = [
  ['simulateClearing', 'authorized', 'cleared'],
  ['simulateReversal', 'authorized', 'reversed'],
  ['simulateRefund', 'cleared', 'cleared'],
] as const
const WRONG_STATE = { user: 'invalid_request', partner: 'invalid_state' } as const

t.test('declares what each operation needs, and simulates only in a sandbox', async t => {
  const declared = all.map(each => [
    `${each.surface} ${each.id}`,
    'write' in each ? `spends ${each.spends}, ${each.idempotency ?? 'required'}` : 'reads',
    'write' in each ? each.denies?.join() : '',
  ])
  const writes = 'spends card, required'
  t.same(declared, [
    ['user cards.authorizations', 'reads', ''],
    ['user cards.simulateAuthorization', writes, '404'],
    ['user cards.simulateClearing', writes, '404'],
    ['user cards.simulateReversal', writes, '404'],
    ['user cards.simulateRefund', writes, '404'],
    ['partner cards.simulateAuthorization', writes, '404'],
    ['partner cards.simulateClearing', writes, '404,409'],
    ['partner cards.simulateReversal', writes, '404,409'],
    ['partner cards.simulateRefund', writes, '404,409'],
  ])
  const live = internals.authorizationOperations({ ...own, environment: 'live' })
  t.same(
    live.map(({ id }) => id),
    ['cards.authorizations'],
  )
})

t.test('responds as its examples say', async t => {
  const accountId = await addAccount(5000)
  const shown = (data: object): object =>
    JSON.parse(
      JSON.stringify(data, (name, value) => (/^(?:id|cardId|\w+At|at)$/.test(name) ? undefined : value)),
    )
  const simulate = all.find(({ id }) => id === 'cards.simulateAuthorization') as Operation
  const cardId = await card(accountId)
  const body = { ...(simulate.example.body as object), cardId }
  t.same(shown({ authorization: await pay(accountId, body) }), shown(simulate.example.response))
  const list = all.find(({ id }) => id === 'cards.authorizations') as Operation
  const { data } = await call(accountId, 'authorizations', { params: { cardId } })
  t.same(shown(data!), shown(list.example.response))
  const statuses = all.flatMap(({ id, example }) => {
    const { authorization } = example.response as { authorization?: { status: string } }
    return authorization ? [[id, authorization.status]] : []
  })
  t.same(
    statuses.slice(1, 4),
    ENDINGS.map(([id, , to]) => [`cards.${id}`, to]),
  )
})

t.test('pays with a card as the merchant that the body names', async t => {
  const accountId = await addAccount(200_000_000)
  const cardId = await card(accountId)
  t.match(await pay(accountId, { cardId, amountCents: 1 }), {
    status: 'authorized',
    currency: 'USD',
    merchant: { name: 'Sandbox Merchant', mcc: '5734', city: null, country: 'US' },
  })
  const merchant = { name: 'x', mcc: '1234', city: 'y', country: 'DE' }
  const paid = await pay(
    accountId,
    { cardId, amountCents: 100_000_000, currency: 'EUR', merchant },
    'partner',
  )
  t.match(paid, { merchant, status: 'declined', declineReason: 'currency_not_supported' })
  t.match(paid['history'], [{ from: null, to: 'declined', cause: 'currency_not_supported', amountCents: 0 }])
  const isTaken = async (body: object): Promise<boolean> =>
    (await call(accountId, 'simulateAuthorization', { body: { cardId, amountCents: 1, ...body } })).code !==
    'invalid_request'
  t.same([await isTaken({ amountCents: -1 }), await isTaken({ amountCents: 100_000_001 })], [false, false])
  t.ok(await isTaken({ amountCents: 0 }), 'an account check')
  const named = async (size: number): Promise<boolean[]> => [
    await isTaken({ merchant: { name: 'x'.repeat(size) } }),
    await isTaken({ merchant: { name: 'x', city: 'y'.repeat(size) } }),
  ]
  t.same(
    [await named(0), await named(1), await named(40), await named(41)],
    [
      [false, false],
      [true, true],
      [true, true],
      [false, false],
    ],
  )
})

t.test('makes the payment of one request once, and cancels a card after its first payment', async t => {
  const accountId = await addAccount(500)
  const cardId = await card(accountId, { autoCancelAfterAuth: true })
  const request = { effectId: uniqueName(), body: { cardId, amountCents: 100 } }
  const first = await call(accountId, 'simulateAuthorization', request)
  t.match(first, { data: { authorization: { id: `auth_${request.effectId}`, status: 'authorized' } } })
  t.same(await call(accountId, 'simulateAuthorization', request), first)
  t.equal(await balance(ledgerAccounts.user(accountId)), 400)
  t.match(await pay(accountId, { cardId, amountCents: 1 }), { declineReason: 'card_canceled' })
  const bound = await card(accountId, {
    sessionPolicies: [{ id: uniqueName(), document: { maxAuthAmountCents: 9 } }],
  })
  t.match(await pay(accountId, { cardId: bound, amountCents: 10 }), {
    declineReason: 'policy_blocked',
    declineRule: 'maxAuthAmountCents',
  })
  t.match(await pay(accountId, { cardId: bound, amountCents: 9 }), { declineReason: null, declineRule: null })
})

t.test('finds no card and no payment of another account', async t => {
  const [ann, bob] = [await addAccount(500), await addAccount(500)]
  const cardId = await card(ann)
  const { id } = await pay(ann, { cardId, amountCents: 100 })
  for (const surface of SURFACES) {
    const body = { cardId, amountCents: 1 }
    t.match(await call(bob, 'simulateAuthorization', { body }, surface), {
      code: 'not_found',
      field: 'cardId',
    })
    for (const [ending] of ENDINGS)
      t.match(await call(bob, ending, { params: { id } }, surface), { code: 'not_found' })
  }
  t.match(await call(bob, 'authorizations', { params: { cardId } }), { code: 'not_found' })
})

t.test('ends a payment only in its state, and moves at most what is left', async t => {
  for (const surface of SURFACES) {
    const accountId = await addAccount(1000)
    const cardId = await card(accountId)
    const made = async (status: string): Promise<string> => {
      const { id } = await pay(
        accountId,
        { cardId, amountCents: status === 'declined' ? 100_000 : 100 },
        surface,
      )
      if (status === 'cleared') await call(accountId, 'simulateClearing', { params: { id } }, surface)
      if (status === 'reversed') await call(accountId, 'simulateReversal', { params: { id } }, surface)
      return id
    }
    for (const status of ['authorized', 'declined', 'cleared', 'reversed'])
      for (const [ending, from, to] of ENDINGS) {
        const params = { id: await made(status) }
        const result = await call(accountId, ending, { params }, surface)
        const wrong = { code: WRONG_STATE[surface], field: 'id' }
        if (status === from) t.match(result, { data: { authorization: { status: to } } })
        else t.match(result, wrong, `${ending} ${status}`)
        if (status === from && ending !== 'simulateReversal')
          t.match(result.data!['authorization'], {
            clearedCents: 100,
            refundedCents: ending === 'simulateRefund' ? 100 : 0,
          })
      }
    const end = async (id: string, ending: string, amountCents: number): Promise<OperationResult> =>
      call(accountId, ending, { params: { id }, body: { amountCents } }, surface)
    const [one, two] = [await made('authorized'), await made('cleared')]
    const tooMuch = { code: WRONG_STATE[surface], field: 'amountCents' }
    t.match(await end(one, 'simulateClearing', 101), tooMuch)
    t.match(await end(one, 'simulateClearing', 99), { data: { authorization: { clearedCents: 99 } } })
    t.match(await end(two, 'simulateRefund', 60), { data: { authorization: { refundedCents: 60 } } })
    t.match(await end(two, 'simulateRefund', 41), { ...tooMuch, message: /at most 40 US cents/ })
    t.match(await end(two, 'simulateRefund', 40), { data: { authorization: { refundedCents: 100 } } })
    t.match(await call(accountId, 'simulateRefund', { params: { id: two } }, surface), tooMuch)
    t.match(await end(one, 'simulateClearing', -1), { code: 'invalid_request' })
  }
})

t.test('lists the payments of a card, newest first, page by page', async t => {
  const accountId = await addAccount(5000)
  const [cardId, other] = [await card(accountId), await card(accountId)]
  const ids: string[] = []
  for (let count = 0; count < 21; count += 1)
    ids.unshift((await pay(accountId, { cardId, amountCents: 1 }))['id'])
  await pay(accountId, { cardId: other, amountCents: 1 })
  const params = { cardId }
  const idsOf = ({ data }: OperationResult): string[] =>
    data!['authorizations'].map(({ id }: { id: string }) => id)
  const first = await call(accountId, 'authorizations', { params })
  t.same(idsOf(first), ids.slice(0, 20))
  t.equal(first.data!['authorizations'][0].history.length, 1)
  const rest = await call(accountId, 'authorizations', {
    params,
    query: `cursor=${first.data!['nextCursor']}`,
  })
  t.same(idsOf(rest), ids.slice(20))
  t.equal(rest.data!['nextCursor'], null)
  t.match(await call(accountId, 'authorizations', { params, query: 'limit=101' }), {
    code: 'invalid_request',
  })
  const all = await call(accountId, 'authorizations', { params, query: 'limit=21' })
  t.match([idsOf(all).length, all.data!['nextCursor']], [21, null])
})
