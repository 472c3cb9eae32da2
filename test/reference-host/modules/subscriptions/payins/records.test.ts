// The records of pay-ins, without a host: their moves, when they expire, and when they are collected.
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import t, { type Test } from 'tap'
import * as internals from '../../../../harness/internals.ts'
import { openPayins, PAY_TO, SEEN, type Payin } from './open-payins.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const { db, clock, settlement, addAccount, make, find, locked, moves } = await openPayins(t)
const { payins } = internals
const errors: unknown[] = []
const expire = (limit = 100, client: SqlClient = db): Promise<number> =>
  internals.payinExpiry({ db: client, settlement, clock })(limit, error => errors.push(error))
const accountId = await addAccount()
const statusOf = async (payin: Payin): Promise<string | undefined> => (await find(payin.id))?.status
const setCursor = (chainId: number, scannedAt: number, nextBlock = 1): Promise<unknown> =>
  rows(
    db,
    `insert into gw_chain_cursors (chain_id, next_block, head_block, scanned_at, lease_owner, lease_until)
      values ($1, $2, 1, $3, 'x', 0)
      on conflict (chain_id) do update set scanned_at = excluded.scanned_at, next_block = excluded.next_block`,
    [chainId, nextBlock, scannedAt],
  )
const move = (payin: Payin, cause: 'submitted' | 'seen' | 'reorganised', change: object) =>
  locked(payin.id, (tx, found) => payins.move(tx, found, cause, { ...change, now: clock.now() }))
const TABLES = ['payin_moves', 'payins', 'open_payins', 'payin_transfers', 'subscriptions', 'chain_cursors']
/** Runs a test on empty tables, in which nothing unexpected may be reported. */
function test(title: string, run: (t: Test) => Promise<void>): void {
  t.test(title, async t => {
    for (const table of TABLES) await rows(db, `delete from gw_${table}`)
    await run(t)
    t.same(errors.splice(0), [])
  })
}

test('closes a pay-in without a chain at its deadline', async t => {
  const payin = await make(accountId)
  t.same(
    [payin.dueAt, payin.expiresAt, payin.createdAt],
    [clock.now() + DAY_MS, clock.now() + DAY_MS, clock.now()],
  )
  clock.advance(DAY_MS - 1)
  t.equal(await expire(), 0)
  t.equal(await statusOf(payin), 'awaiting_payment')
  clock.advance(1)
  t.equal(await expire(), 1)
  t.same((await moves(payin.id)).at(-1), ['awaiting_payment', 'expired', 'deadline_passed', null])
  t.equal(await expire(), 0)
})

test('closes a pay-in on a chain once the chain was read a minute beyond the deadline', async t => {
  const payin = await make(accountId, { payTo: PAY_TO })
  const other = await make(accountId, { payTo: { ...PAY_TO, chainId: 11 } })
  clock.advance(2 * DAY_MS)
  t.equal(await expire(), 0, 'a chain that nobody reads')
  await setCursor(10, payin.dueAt + MINUTE_MS - 1)
  await setCursor(12, clock.now())
  t.equal(await expire(), 0)
  await setCursor(10, payin.dueAt + MINUTE_MS)
  t.equal(await expire(), 1)
  t.same([await statusOf(payin), await statusOf(other)], ['expired', 'awaiting_payment'])
  await setCursor(11, other.dueAt + MINUTE_MS)
  t.equal(await expire(), 1)
})

test('a chain that is read ahead of the clock closes nothing early', async t => {
  const payin = await make(accountId, { payTo: PAY_TO })
  await setCursor(10, payin.dueAt + DAY_MS)
  clock.advance(DAY_MS - 1)
  t.equal(await expire(), 0)
  clock.advance(1)
  t.equal(await expire(), 1)
})

test('fails a pay-in for which a transaction was named, and leaves one with a transfer open', async t => {
  const [named, seen, lost] = [await make(accountId), await make(accountId), await make(accountId)]
  await move(named, 'submitted', { submittedTx: '0x9' })
  await move(seen, 'seen', { seen: SEEN })
  await move(lost, 'seen', { seen: SEEN })
  await move(lost, 'reorganised', { seen: null })
  const settled = await make(accountId)
  await locked(settled.id, (tx, payin) => settlement.close(tx, payin, 'canceled', clock.now()))
  clock.advance(DAY_MS)
  t.equal(await expire(), 2)
  t.same(await Promise.all([named, seen, lost, settled].map(statusOf)), [
    'failed',
    'confirming',
    'expired',
    'canceled',
  ])
  t.same((await moves(named.id)).at(-1), ['confirming', 'failed', 'payment_invalid', null])
})

test('closes at most so many at once, those that are due first first', async t => {
  const made: Payin[] = []
  for (let count = 0; count < 4; count += 1) {
    made.push(await make(accountId, count === 3 ? { payTo: PAY_TO } : {}))
    clock.advance(1)
  }
  clock.advance(2 * DAY_MS)
  await setCursor(10, clock.now())
  t.equal(await expire(0), 0)
  t.equal(await expire(1), 1)
  const statuses = () => Promise.all(made.map(statusOf))
  t.same(await statuses(), ['expired', 'awaiting_payment', 'awaiting_payment', 'awaiting_payment'])
  t.equal(await expire(2), 2)
  t.equal((await statuses())[3], 'awaiting_payment', 'all chains count for the limit')
  t.equal(await expire(2), 1)
})

test('reports a pay-in that cannot be closed, and closes the next ones', async t => {
  const made = [await make(accountId), await make(accountId), await make(accountId)]
  const [first] = made.toSorted((one, other) => (one.id < other.id ? -1 : 1))
  await rows(db, "update gw_payins set hold = '{' where id = $1", [first!.id])
  clock.advance(DAY_MS)
  t.equal(await expire(), 2)
  t.equal(errors.splice(0).length, 1)
  const left = await rows(db, "select id from gw_payins where status <> 'expired'")
  t.same(left, [{ id: first!.id }])
  t.equal(await expire(2), 0, 'one that fails counts for the limit')
  t.equal(errors.splice(0).length, 1)
})

test('reports an outage once', async t => {
  await make(accountId)
  clock.advance(DAY_MS)
  const client: SqlClient = { ...db, query: db.query, transaction: () => Promise.reject(new Error('down')) }
  t.equal(await expire(5, client), 0)
  t.match(errors.splice(0), [{ message: 'down' }])
})

test('leaves a pay-in open that got a transfer after it was found due', async t => {
  const payin = await make(accountId, { payTo: PAY_TO })
  await setCursor(10, payin.dueAt + MINUTE_MS)
  clock.advance(2 * DAY_MS)
  const client: SqlClient = {
    ...db,
    query: db.query,
    transaction: async (work, options) => {
      await move(payin, 'seen', { seen: SEEN })
      return db.transaction(work, options)
    },
  }
  t.equal(await expire(1, client), 0)
  t.equal(await statusOf(payin), 'confirming')
})

test('a lost transfer may be mined again for an hour', async t => {
  const HOUR_MS = 3_600_000
  for (const [lostAfter, dueAfter] of [
    [1000, DAY_MS],
    [DAY_MS - HOUR_MS + 1, DAY_MS + 1],
    [DAY_MS + 5, DAY_MS + HOUR_MS + 5],
  ] as const) {
    const payin = await make(accountId)
    await move(payin, 'seen', { seen: SEEN })
    clock.advance(lostAfter)
    const lost = await move(payin, 'reorganised', { seen: null })
    t.match(lost, { dueAt: payin.createdAt + dueAfter, expiresAt: payin.expiresAt, seen: null })
    await locked(payin.id, (tx, found) => settlement.close(tx, found, 'canceled', clock.now()))
  }
})

test('moves a pay-in only from the state that was locked', async t => {
  const payin = await make(accountId)
  const moved = await move(payin, 'submitted', { submittedTx: '0x9', detail: '0x9' })
  t.match(moved, { status: 'confirming', submittedTx: '0x9', method: 'onchain', moves: 2, seen: null })
  const stale = db.transaction(tx => payins.move(tx, payin, 'seen', { seen: SEEN, now: clock.now() }))
  await t.rejects(stale, /was moved by another transaction/)
  const seen = await move(payin, 'seen', { seen: SEEN, detail: '0x1' })
  t.match(seen, { seen: SEEN, submittedTx: '0x9', moves: 3, dueAt: payin.dueAt })
  t.match(await move(payin, 'submitted', {}), { seen: SEEN, submittedTx: '0x9' }, 'what is not named stays')
  t.same(await moves(payin.id), [
    [null, 'awaiting_payment', 'created', null],
    ['awaiting_payment', 'confirming', 'submitted', '0x9'],
    ['confirming', 'confirming', 'seen', '0x1'],
    ['confirming', 'confirming', 'submitted', null],
  ])
  await t.rejects(
    locked(payin.id, (tx, found) => payins.move(tx, found, 'paid_from_balance', { now: clock.now() })),
    /a pay-in that is confirming cannot be moved by paid_from_balance/,
  )
})

test('counts the pay-ins of an account that can still be paid', async t => {
  const other = await addAccount()
  const countOpen = async (): Promise<number> => (await payins.findOrCountOpen(db, other, 'no effect')).open
  t.equal(await countOpen(), 0)
  const [first, second] = [await make(other), await make(other)]
  await make(accountId)
  await move(first, 'submitted', { submittedTx: '0x9' })
  t.equal(await countOpen(), 2)
  await locked(second.id, (tx, payin) => settlement.close(tx, payin, 'canceled', clock.now()))
  t.equal(await countOpen(), 1)
})

test('finds the pay-in of an effect, and gives an effect one', async t => {
  const payin = await make(accountId)
  const [stored] = await rows(db, 'select effect_id from gw_payins where id = $1', [payin.id])
  const effectId = String(stored?.['effect_id'])
  await make(accountId)
  t.match(await db.transaction(tx => payins.findByEffect(tx, accountId, effectId)), payin)
  t.match(await payins.findOrCountOpen(db, accountId, effectId), { existing: payin })
  t.equal(await db.transaction(tx => payins.findByEffect(tx, accountId, 'none')), undefined)
})

test('gives the deposit address of a pay-in to it alone', async t => {
  const address = (chainId: number, of: string): Promise<unknown> =>
    rows(db, 'insert into gw_deposit_addresses (chain_id, address, token) values ($1, $2, $3)', [
      chainId,
      of,
      '0xa',
    ])
  for (const [chainId, of] of [
    [10, '0xb'],
    [11, '0xb'],
    [10, '0xd'],
  ] as const)
    await address(chainId, of)
  const owners = async (): Promise<unknown[]> =>
    (await rows(db, 'select payin_id from gw_deposit_addresses order by chain_id, address')).map(
      row => row['payin_id'],
    )
  const shared = await make(accountId, { payTo: PAY_TO })
  t.same(await owners(), [null, null, null])
  t.same(shared.payTo, PAY_TO)
  const payTo = { ...PAY_TO, payer: null, ownReceiver: true }
  const own = await make(accountId, { payTo })
  t.same(await owners(), [own.id, null, null])
  t.same(own.payTo, payTo)
  t.equal((await make(accountId)).payTo, null)
  await rows(db, 'delete from gw_deposit_addresses')
})

test('a chain is read once a host has chosen its first block', async t => {
  t.notOk(await payins.isChainRead(db, 10))
  await setCursor(10, 0, -1)
  t.notOk(await payins.isChainRead(db, 10))
  await setCursor(10, 0, 0)
  t.ok(await payins.isChainRead(db, 10))
  t.notOk(await payins.isChainRead(db, 11))
})

test('collects what ended unpaid and was due by a time, the oldest first', async t => {
  const close = (payin: Payin, cause: 'deadline_passed' | 'canceled' = 'deadline_passed') =>
    locked(payin.id, (tx, found) => settlement.close(tx, found, cause, clock.now()))
  const made = [await make(accountId), await make(accountId), await make(accountId), await make(accountId)]
  const [expired, canceled, failed, open] = made as [Payin, Payin, Payin, Payin]
  await close(expired)
  await close(canceled, 'canceled')
  await move(failed, 'submitted', { submittedTx: '0x9' })
  await locked(failed.id, (tx, found) => settlement.close(tx, found, 'payment_invalid', clock.now()))
  await move(open, 'submitted', { submittedTx: '0x8' })
  const [own, seen] = [
    await make(accountId, { payTo: { ...PAY_TO, ownReceiver: true } }),
    await make(accountId),
  ]
  await close(own)
  await move(seen, 'seen', { seen: SEEN })
  await close(seen)
  const waiting = await make(accountId)
  const settled = await make(accountId, { payTo: PAY_TO })
  await locked(settled.id, (tx, found) => settlement.settleOnChain(tx, found, SEEN, clock.now()))
  clock.advance(1)
  const later = await make(accountId)
  await close(later)
  clock.advance(31 * DAY_MS - 2)
  const collect = (limit: number): Promise<number> =>
    internals.collectUnpaidPayins(db, limit, clock.now() - 30 * DAY_MS)
  t.equal(await collect(10), 0)
  clock.advance(2)
  t.same([await collect(2), await collect(2), await collect(2)], [2, 2, 0])
  const left = (await rows(db, 'select id from gw_payins order by position')).map(row => row['id'])
  t.same(
    left,
    [open, own, seen, waiting, settled].map(({ id }) => id),
  )
  t.equal((await moves(expired.id)).length, 0)
  t.equal((await moves(open.id)).length, 2)
})

test('collects a subscription that was never paid with its last pay-in', async t => {
  const plan = { id: 'pro', amountCents: 100, interval: 'month' } as never
  const subscribe = (effectId: string) =>
    db.transaction(tx => internals.subscriptions.insert(tx, { effectId, accountId, plan, now: clock.now() }))
  const [never, half, paid, other] = [
    await subscribe('1'),
    await subscribe('2'),
    await subscribe('3'),
    await subscribe('4'),
  ]
  const close = async (subscriptionId: string): Promise<void> => {
    const { id } = await make(accountId, { subscriptionId })
    await locked(id, (tx, found) => settlement.close(tx, found, 'deadline_passed', clock.now()))
  }
  for (const { id } of [never, never, half, paid]) await close(id)
  await db.transaction(tx => internals.subscriptions.extend(tx, accountId, paid.id, clock.now()))
  clock.advance(31 * DAY_MS)
  await make(accountId, { subscriptionId: half.id })
  t.equal(await internals.collectUnpaidPayins(db, 100, clock.now()), 4)
  const left = (await rows(db, 'select id from gw_subscriptions order by position')).map(row => row['id'])
  t.same(
    left,
    [half, paid, other].map(({ id }) => id),
    'one without any pay-in is left to its request',
  )
})

test('a page has the pay-ins of an id, a key and statuses, and of no others', async t => {
  const other = await make(accountId, { keyId: 'key_2' })
  clock.advance(1)
  const closed = await make(accountId)
  clock.advance(1)
  const open = await make(accountId)
  await locked(closed.id, (tx, payin) => settlement.close(tx, payin, 'canceled', clock.now()))
  const ids = async (filter: Parameters<typeof payins.page>[3]): Promise<readonly string[]> =>
    (await payins.page(db, accountId, { limit: 10 }, filter)).rows.map(({ id }) => id)
  t.same(await ids({}), [open.id, closed.id, other.id])
  t.same(await ids({ keyId: 'key_1' }), [open.id, closed.id])
  t.same(await ids({ keyId: 'key_1', statuses: ['canceled'] }), [closed.id])
  t.same(await ids({ statuses: ['awaiting_payment'] }), [open.id, other.id])
  t.same(await ids({ id: other.id }), [other.id])
  t.same(await ids({ id: other.id, keyId: 'key_2' }), [other.id])
  t.same(await ids({ id: other.id, keyId: 'key_1' }), [])
  t.same(await ids({ id: other.id, statuses: ['canceled'] }), [])
})

test('finds the account of a pay-in that can be paid, and says which receiver is its own', async t => {
  const stranger = await addAccount()
  const own = await make(accountId, { payTo: { ...PAY_TO, ownReceiver: true } })
  const shared = await make(stranger, { payTo: { ...PAY_TO, address: '0xd' } })
  t.equal(await payins.accountOfOpen(db, own.id), accountId)
  t.equal(await payins.accountOfOpen(db, shared.id), stranger)
  t.equal(await payins.accountOfOpen(db, 'pay_none'), undefined)
  const found = await rows(db, 'select payin_id, own_receiver from gw_open_payins')
  t.same(
    Object.fromEntries(found.map(row => [row['payin_id'], Number(row['own_receiver'])])),
    Object.fromEntries([
      [own.id, 1],
      [shared.id, 0],
    ]),
  )
  await locked(shared.id, (tx, payin) => settlement.close(tx, payin, 'canceled', clock.now()))
  t.equal(await payins.accountOfOpen(db, shared.id), undefined)
})

test('a transfer is settled with its pay-in, and not before', async t => {
  const payin = await make(accountId, { payTo: PAY_TO })
  const settled = async (): Promise<unknown> =>
    (await rows(db, 'select settled from gw_payin_transfers where payin_id = $1', [payin.id])).map(row =>
      Number(row['settled']),
    )
  await move(payin, 'seen', { seen: SEEN })
  t.same(await settled(), [0])
  await move(payin, 'seen', { seen: { ...SEEN, blockNumber: 9 } })
  t.same(await settled(), [0])
})
