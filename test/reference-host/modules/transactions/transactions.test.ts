import { newId } from '@gatewright/host'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { bearer, type HttpResponse } from '../../../harness/host.ts'
import * as internals from '../../../harness/internals.ts'
import { newMoneyUser } from '../../harness/money.ts'
import { startOpenHost } from '../../harness/open-host.ts'

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
/** A transaction of a response. */
type Item = Record<string, unknown> & { readonly id: string; readonly source: { readonly id: string } }
/** Adds rows of one account by one statement. */
const fill = (accountId: string, count: number): Promise<unknown> =>
  db.query(
    `insert into gw_transactions (id, account_id, source_kind, source_id, part, type, status, amount_cents, direction,
        description, created_at, updated_at)
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})
      select 'txn_' || $1 || n, $1, 'bill', 'bill_' || n, '', 'payment', 'completed', n, 'debit', 'A bill',
        ${clock.now()} - n, ${clock.now()} from numbers`,
    [accountId],
  )
const itemsOf = ({ body }: HttpResponse) => body.data['transactions'] as Record<string, unknown>[]

async function newAccount() {
  const user = await newMoneyUser(host.send, clock.now())
  const accountId = await accountOf(user.userId)
  const { body } = await user.read('/keys')
  const [{ id: keyId }] = body.data['keys'] as [{ id: string }]
  return {
    ...user,
    accountId,
    keyId,
    authorization: bearer(user.token),
    list: (query = '') => user.read(`/transactions${query}`),
  }
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
    keyId: null,
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
    counterparty: null,
    memo: null,
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

t.test('says who was paid, what for and by which key, and what happened to it', async t => {
  const [ann, bob] = [await newAccount(), await newAccount()]
  await ann.fund(1000)
  const to = { walletAddress: bob.address }
  await ann.write('/payments', { to, amountCents: 12, memo: 'Lunch' })
  const [sent, funded] = itemsOf(await ann.list()) as [Item, Item]
  t.match(sent, {
    direction: 'debit',
    counterparty: { walletAddress: bob.address },
    memo: 'Lunch',
    keyId: ann.keyId,
  })
  t.match(funded, { keyId: ann.keyId, counterparty: null, memo: null })
  const [received] = itemsOf(await bob.list()) as [Item]
  t.match(received, { direction: 'credit', memo: 'Lunch', keyId: null }, 'not the key of the sender')

  const detail = (await ann.read(`/transactions/${sent.id}`)).body.data['transaction']
  t.same(detail, { ...sent, history: [] })
  for (const id of ['txn_never', received.id, sent.source.id])
    t.match(await ann.read(`/transactions/${id}`), { status: 404, body: { error: 'not_found' } })

  const checkout = await ann.write('/subscriptions/checkout', { plan: 'basic' })
  const payinId = (checkout.body.data['payin'] as { id: string }).id
  await ann.write('/subscriptions/payin/confirm-balance', { payinId })
  const [paid] = itemsOf(await ann.list(`?id=${payinId}`)) as [Item]
  t.match((await ann.read(`/transactions/${paid.id}`)).body.data['transaction'], {
    id: paid.id,
    keyId: ann.keyId,
    history: [{ from: 'awaiting_payment', to: 'settled', cause: 'paid_from_balance', amountCents: 500 }],
  })
  const idsOf = async (query: string) => itemsOf(await ann.list(query)).map(({ id }) => id)
  t.same(await idsOf(`?id=${sent.id}`), [sent.id])
  t.same(await idsOf(`?id=${sent.source.id}`), [sent.id], 'the own side of a payment')
  t.same(await idsOf(`?id=${received.id}`), [], 'not that of others')
  t.same(await idsOf(`?keyId=${ann.keyId}&status=completed&type=payment`), [paid.id, sent.id])
  t.same(await idsOf(`?keyId=${bob.keyId}`), [])
  t.same(await idsOf('?status=pending,failed'), [])
  for (const [query, field] of [
    ['id=lunch', 'id'],
    ['keyId=%20', 'keyId'],
    ['status=done', 'status'],
    ['from=yesterday', 'from'],
    ['from=2026-02-30', 'from'],
    ['to=2026-02-01T25:00:00Z', 'to'],
    ['from=2026-02-02&to=2026-02-01', 'to'],
    ['cursor=YWZ0ZXI6MQ', 'cursor'],
  ] as const)
    t.match(await ann.list(`?${query}`), { status: 400, body: { field } }, query)
})

t.test('exports transactions as CSV, and no text of others as a formula', async t => {
  const user = await newAccount()
  const at = new Date(clock.now()).toISOString()
  const memos = ['=1+1', '+1', '-1', '@x', ' =1', '＝1', 'a "b", c', "it's", null]
  for (const [index, memo] of memos.entries())
    await write(user.accountId, {
      source: { kind: 'payment', id: `pay_${index}`, part: 'received' },
      type: 'payment',
      direction: 'credit',
      counterparty: '0x1',
      description: 'Payment received',
      memo,
    })
  await write(user.accountId, { merchant: { ...merchant, name: '=cmd|x' }, cardId: 'card_1', keyId: 'key_1' })
  clock.advance(1)
  const read = async (query = '') => {
    const response = await fetch(`${host.url}/user/v1/transactions.csv${query}`, {
      headers: user.authorization,
    })
    return { response, text: await response.text() }
  }
  const { response, text } = await read()
  t.equal(response.status, 200)
  t.match(response.headers.get('content-type'), /^text\/csv; charset=utf-8/)
  t.equal(response.headers.get('content-disposition'), 'attachment; filename="transactions.csv"')
  t.equal(response.headers.get('cache-control'), 'no-store')
  const [header, card, ...lines] = text.split('\r\n')
  t.equal(
    header,
    'id,created_at,updated_at,type,status,direction,amount,amount_cents,currency,description,counterparty,merchant,memo,card_id,key_id,source_kind,source_id',
  )
  t.match(
    card,
    `,"${at}","${at}","spend","completed","debit",12.34,1234,"USD","Coffee",,"'=cmd|x",,"card_1","key_1","authorization","auth_`,
  )
  t.same(
    lines.slice(0, -1).map(line => line.split('"USD","Payment received","0x1",,')[1]),
    [`"'=1+1"`, `"'+1"`, `"'-1"`, `"'@x"`, `"' =1"`, `"'＝1"`, '"a ""b"", c"', `"it's"`, '']
      .map((memo, index) => `${memo},,,"payment","pay_${index}"`)
      .toReversed(),
  )
  t.equal((await read('?type=spend')).text, `${header}\r\n${card}\r\n`)
  t.equal((await read('?to=2020-01-01')).text, `${header}\r\n`)
  for (const [query, field] of [
    ['from=2020-01-01&to=2026-01-01', 'from'],
    ['form=2026-01-01', 'form'],
    ['limit=5', 'limit'],
    ['from=x', 'from'],
  ] as const) {
    const denied = await read(`?${query}`)
    t.match([denied.response.status, JSON.parse(denied.text)], [400, { field }], query)
  }
  t.equal((await fetch(`${host.url}/user/v1/transactions.csv`)).status, 401)
})

t.test('sends an export of any length as the client reads it, two at a time', async t => {
  const { accountId, authorization, read } = await newAccount()
  // More than the buffers of a connection hold.
  const count = 30_000
  await fill(accountId, count)
  const url = `${host.url}/user/v1/transactions.csv`
  const whole = await (await fetch(url, { headers: authorization })).text()
  const ids = whole
    .split('\r\n')
    .slice(1, -1)
    .map(line => line.split(',')[16]?.replaceAll('"', ''))
  t.same([ids.length, ids[0], ids.at(-1)], [count, 'bill_1', `bill_${count}`])
  t.equal(new Set(ids).size, count)

  const stop = new AbortController()
  const unread = [1, 2].map(() => fetch(url, { headers: authorization, signal: stop.signal }))
  for (const response of await Promise.all(unread)) t.equal(response.status, 200)
  const denied = await read('/transactions.csv')
  t.match(denied, { status: 429, body: { error: 'rate_limited' } })
  t.equal(denied.headers.get('retry-after'), '5')
  stop.abort()
  const downloadEmpty = async (): Promise<number> => {
    const response = await fetch(`${url}?to=2020-01-01`, { headers: authorization })
    await response.text()
    return response.status
  }
  /** Waits until no export runs: two can be read to their ends at once. */
  const noneRuns = async (): Promise<void> => {
    while ((await Promise.all([downloadEmpty(), downloadEmpty()])).includes(429));
  }
  // A client that has gone ends its export.
  await noneRuns()
  // Nothing of these files is sent.
  for (let n = 0; n < 5; n++)
    t.equal((await fetch(url, { method: 'HEAD', headers: authorization })).status, 200)

  await noneRuns()
  const all = new AbortController()
  const atOnce = await Promise.all(
    Array.from({ length: 8 }, () => fetch(url, { headers: authorization, signal: all.signal })),
  )
  all.abort()
  t.equal(
    atOnce.filter(each => each.status === 200).length,
    2,
    'those that are requested at once count each other',
  )
})
