import { manualClock } from '@gatewright/kernel/testing'
import { newId } from '@gatewright/host/internal'
import t from 'tap'
import { bearer, type HttpResponse } from '../../../harness/host.ts'
import { internals } from '../../../harness/internals.ts'
import { newMoneyUser } from '../../../harness/money.ts'
import { startOpenHost } from '../../../harness/open-host.ts'

const clock = manualClock(Date.UTC(2026, 0, 31, 12))
const { host, db, close } = await startOpenHost(clock)
t.teardown(close)
const store = internals.transactions
type Entry = Parameters<typeof store.write>[1]

const accountOf = async (userId: string): Promise<string> => {
  const { rows } = await db.query('select account_id from gw_users where id = $1', [userId])
  return (rows[0] as { account_id: string }).account_id
}
const write = (accountId: string, entry: Partial<Entry> = {}): Promise<void> =>
  db.transaction(tx =>
    store.write(
      tx,
      {
        accountId,
        source: { kind: 'authorization', id: newId('auth') },
        type: 'spend',
        status: 'completed',
        amountCents: 1234,
        direction: 'debit',
        description: 'Coffee',
        ...entry,
      },
      clock.now(),
    ),
  )
const merchant = { name: 'Corner Café', mcc: '5814', city: null, country: 'US' }
const itemsOf = ({ body }: HttpResponse) => body.data['transactions'] as Record<string, unknown>[]

async function newAccount() {
  const user = await newMoneyUser(host.send, clock.now())
  const accountId = await accountOf(user.userId)
  return { ...user, accountId, list: (query = '') => user.read(`/transactions${query}`) }
}

async function partnerUser(userId: string) {
  const headers = { 'x-partner-key': host.partnerKey }
  await host.send('/partner/v1/users/resolve', { body: { userId }, headers })
  const { rows } = await db.query('select account_id from gw_users where external_id = $1', [userId])
  const body = { userId, scopes: ['transactions.read'] }
  const minted = await host.send('/partner/v1/sessions', { body, headers })
  const authorization = bearer(minted.body.data['sessionToken'] as string)
  return {
    accountId: (rows[0] as { account_id: string }).account_id,
    list: (query = '') => host.send(`/partner/v1/transactions${query}`, { headers: authorization }),
  }
}

t.test('returns a card payment in the form of each surface', async t => {
  const [user, partner] = [await newAccount(), await partnerUser('form-1')]
  const at = new Date(clock.now()).toISOString()
  const cardId = 'card_1'
  for (const { accountId } of [user, partner]) await write(accountId, { cardId, merchant })
  const shared = {
    type: 'spend',
    status: 'completed',
    amountCents: 1234,
    currency: 'USD',
    direction: 'debit',
    description: 'Coffee',
    cardId,
    createdAt: at,
    updatedAt: at,
  }
  const [own] = itemsOf(await user.list())
  const { id, source, ...rest } = own as { id: string; source: { kind: string; id: string } }
  t.match([id, source], [/^txn_[0-9a-f]{32}$/, { kind: 'authorization', id: /^auth_/ }])
  t.same(rest, {
    ...shared,
    displayAmount: '$12.34',
    merchant: 'Corner Café',
    merchantDetails: { mcc: '5814', city: null, country: 'US' },
  })
  const [theirs] = itemsOf(await partner.list())
  const { transactionId, ...others } = theirs as { transactionId: string }
  t.match(transactionId, /^txn_/)
  t.same(others, { ...shared, merchantName: 'Corner Café' })
})

t.test('a row that is written again is updated in its place', async t => {
  const { accountId, list } = await newAccount()
  const source = { kind: 'authorization', id: newId('auth') }
  await write(accountId, { source, status: 'pending' })
  await write(accountId)
  const [, first] = itemsOf(await list())
  clock.advance(60_000)
  await write(accountId, { source, status: 'reversed' })
  const found = itemsOf(await list())
  t.equal(found.length, 2)
  t.same(found[1], { ...first, status: 'reversed', updatedAt: new Date(clock.now()).toISOString() })
})

t.test('filters by type and card, alone and together, over pages', async t => {
  const { accountId, list } = await newAccount()
  const types = ['spend', 'collateral', 'payment', 'fee'] as const
  for (let n = 0; n < 24; n += 1) {
    const cardId = n % 4 === 0 ? `card_${n % 8 === 0 ? 1 : 2}` : null
    await write(accountId, { type: types[n % 4] as Entry['type'], cardId, amountCents: n })
  }
  const amounts = async (query: string): Promise<number[]> => {
    const found: number[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const response = await list(`?limit=5${query}${cursor ? `&cursor=${cursor}` : ''}`)
      found.push(...itemsOf(response).map(each => each['amountCents'] as number))
      cursor = response.body.data['nextCursor'] as string | null
    }
    return found
  }
  const wanted = (is: (n: number) => boolean): number[] =>
    Array.from({ length: 24 }, (_, n) => 23 - n).filter(is)
  t.same(
    await amounts(''),
    wanted(() => true),
  )
  t.same(
    await amounts('&type=payment'),
    wanted(n => n % 4 === 2),
  )
  t.same(
    await amounts('&type=payment,spend'),
    wanted(n => n % 2 === 0),
  )
  t.same(
    await amounts('&type=spend,payment,spend'),
    wanted(n => n % 2 === 0),
    'twice is once',
  )
  t.same(
    await amounts('&cardId=card_1'),
    wanted(n => n % 8 === 0),
  )
  t.same(
    await amounts('&cardId=card_2&type=spend'),
    wanted(n => n % 8 === 4),
  )
  t.same(await amounts('&cardId=card_2&type=payment'), [])
  for (const wrong of ['', 'card', 'spend,', 'spend, fee'])
    t.match(await list(`?type=${encodeURIComponent(wrong)}`), { status: 400, body: { field: 'type' } })
})

t.test('pages hold up to 100 transactions for users, up to 200 for partners', async t => {
  const [user, partner] = [await newAccount(), await partnerUser('pages-1')]
  for (const [who, most] of [
    [user, 100],
    [partner, 200],
  ] as const) {
    t.match(await who.list(`?limit=${most}`), { status: 200 })
    t.match(await who.list(`?limit=${most + 1}`), { status: 400, body: { field: 'limit' } })
  }
})

t.test('the transactions of others are not listed, also by the id of their card', async t => {
  const [ann, bob] = [await newAccount(), await newAccount()]
  await write(ann.accountId, { cardId: 'card_of_ann' })
  for (const query of ['', '?cardId=card_of_ann', '?cardId=card_never', '?type=spend'])
    t.same((await bob.list(query)).body.data, { transactions: [], nextCursor: null }, query)
  t.equal(itemsOf(await ann.list('?cardId=card_of_ann')).length, 1)
  for (const wrong of ['', 'never', 'card_', 'card_1 ', `card_${'a'.repeat(116)}`]) {
    const response = await bob.list(`?cardId=${encodeURIComponent(wrong)}`)
    t.match(response, { status: 400, body: { field: 'cardId' } }, wrong)
  }
  await t.rejects(
    write(ann.accountId, { type: 'payment', cardId: 'card_of_ann' }),
    'only card payments have a card',
  )
})

t.test('shows play money, payments on a plan and operator credits of the account', async t => {
  const user = await newAccount()
  await user.fund(1000)
  const checkout = await user.write('/subscriptions/checkout', { plan: 'basic' })
  const payinId = (checkout.body.data['payin'] as { id: string }).id
  await user.write('/subscriptions/payin/confirm-balance', { payinId })
  t.match(itemsOf(await user.list()), [
    { type: 'payment', direction: 'debit', amountCents: 500, source: { kind: 'payin', id: payinId } },
    { type: 'collateral', direction: 'credit', amountCents: 1000, source: { kind: 'deposit' } },
  ])
})
