import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { ledgerAccounts } from '@gatewright/host/internal'
import type { Transfer } from '#packages/host/dist/ledger/ledger.js'
import type { WithdrawalReport } from '@gatewright/reference-host'
import { systemAccounts } from '#packages/reference-host/dist/product/system-accounts.js'
import t, { type Test } from 'tap'
import * as internals from '../../../harness/internals.ts'
import { openMoney } from '../../harness/money-operations.ts'
import { uniqueName } from '../../../harness/stores.ts'

const { db, ledger, guard, clock, services, addAccount, balance, history } = await openMoney(t)
const { withdrawals, money, spendStorage } = services
const { anyWithdrawal, countOpenAndFindOwn, withdrawalTable } = internals
type Stored = Omit<NonNullable<Awaited<ReturnType<typeof withdrawalTable.find>>>, 'position'>

const destination = { currency: 'usdc', network: 'base', address: 'a', extraId: null }
const relay = { reference: 'r1', payinAddress: 'p', payinExtraId: null }
const FEES = systemAccounts.fees
const inTransaction = <T>(work: (tx: SqlQueries) => Promise<T>): Promise<T> => db.transaction(work)

/** A withdrawal of 1000 cents with a fee, of a new account with 1000 cents and a cap. */
async function made(feeCents = 50, accountId?: string): Promise<Stored> {
  const owner = accountId ?? (await addAccount(1000))
  const id = `wd_${uniqueName()}`
  const cap = { id: `${owner}.cap`, document: { dailyWithdrawalCapCents: 100_000 } }
  const rule = { operation: 'withdrawals.create', spends: 'withdrawal', allOf: [] } as const
  const access = guard.checkPolicies(owner, [cap], rule)
  if (!access.ok) throw new Error(access.message)
  await inTransaction(async tx => {
    const amount = { amountCents: 1000, currency: 'USD', holdId: id }
    const hold = await guard.reserve(access.value, amount, spendStorage(tx))
    if (!hold.ok) throw new Error(hold.message)
    const terms = { id, accountId: owner, provider: 'bank', amountCents: 1000, feeCents, destination }
    const stored = await withdrawals.create(tx, { ...terms, hold: hold.value }, clock.now())
    if (stored === 'insufficient') throw new Error(stored)
  })
  return find(id)
}
const find = async (id: string): Promise<Stored> => (await anyWithdrawal.find(db, id)) as Stored

function report(
  id: string,
  status: WithdrawalReport['status'],
  more: Partial<WithdrawalReport> = {},
  provider = 'bank',
): Promise<string> {
  const nothing = { reason: null, txHash: null, paidCents: null, relay: null }
  return inTransaction(tx =>
    withdrawals.report(tx, provider, { id, ...nothing, status, ...more }, clock.now()),
  )
}
const resolve = (id: string, status: 'completed' | 'failed') =>
  inTransaction(tx => withdrawals.resolve(tx, id, { status, reference: 'ticket-7' }, clock.now()))
const lose = (id: string): Promise<void> =>
  inTransaction(async tx => withdrawals.lost(tx, (await anyWithdrawal.find(tx, id))?.accountId ?? '', id))
/** What is spendable, held for withdrawals, paid by the provider and kept as fee. */
async function sums({ accountId }: Stored): Promise<number[]> {
  const accounts = [
    ledgerAccounts.user(accountId),
    ledgerAccounts.held(accountId, 'withdrawals'),
    systemAccounts.withdrawals('bank'),
    FEES,
  ]
  const all: number[] = []
  for (const account of accounts) all.push(await balance(account))
  return all
}
/** What changed since, of those sums. */
async function moved(of: Stored, before: number[]): Promise<number[]> {
  return (await sums(of)).map((cents, at) => cents - (before[at] as number))
}
/** Whether the hold under the caps has ended. */
const isHoldEnded = async ({ hold }: Stored): Promise<boolean> =>
  !(await inTransaction(tx => guard.release(hold, spendStorage(tx))))
const events = ({ accountId, id }: Stored) => history(accountId, 'withdrawal', id)
const CREATED = [null, 'pending', 'created', 1000, null]

/** A withdrawal that no test changes. */
const untouched = await made()
function test(title: string, run: (t: Test) => Promise<void>): void {
  t.test(title, async t => {
    await run(t)
    t.same(await find(untouched.id), untouched, 'no other withdrawal is changed')
  })
}

test('holds the money of a new withdrawal, once', async t => {
  const accountId = await addAccount(1500)
  const first = await made(50, accountId)
  t.match(first, {
    status: 'pending',
    attention: null,
    excessCents: 0,
    openToPollingUntil: null,
    relay: null,
  })
  t.same((await sums(first)).slice(0, 2), [500, 1000])
  t.same(await events(first), [CREATED])
  t.match((await internals.transactions.page(db, accountId, { limit: 1 })).rows, [
    {
      source: { kind: 'withdrawal', id: first.id },
      status: 'pending',
      direction: 'debit',
      amountCents: 1000,
    },
  ])
  const again = (id: string): Promise<void> =>
    inTransaction(async tx => {
      const stored = await withdrawals.create(tx, { ...first, id }, clock.now())
      throw new Error(stored === 'insufficient' ? stored : 'created')
    })
  await t.rejects(again('wd_poor'), /insufficient/)
  await t.rejects(again(first.id), { code: 'ERR_STORE_UNAVAILABLE' }, 'it exists already')
  const elsewhere = {
    id: 'wd_paid',
    accountId,
    debit: systemAccounts.operator,
    credit: FEES,
    amountCents: 1,
    cause: 'x',
  }
  await inTransaction(tx => money.move(tx, elsewhere, [], clock.now()))
  await t.rejects(again('wd_paid'), /the ledger already has withdrawal wd_paid: conflict/)
})

test('finds nothing for an unknown id, and for another provider', async t => {
  const { id } = untouched
  t.equal(await anyWithdrawal.find(db, 'wd_none'), undefined)
  t.equal(await report('wd_none', 'completed'), 'unknown')
  t.equal(await report(id, 'completed', {}, 'other'), 'unknown')
  t.equal(await resolve('wd_none', 'completed'), undefined)
})

test('pays out the amount less the fee, and keeps the fee', async t => {
  for (const feeCents of [0, 1, 50]) {
    const w = await made(feeCents)
    const before = await sums(w)
    clock.advance(1)
    t.equal(await report(w.id, 'completed', { txHash: '0x1', relay }), 'applied')
    t.same(await moved(w, before), [0, -1000, 1000 - feeCents, feeCents], `fee ${feeCents}`)
    t.same(await find(w.id), { ...w, status: 'completed', txHash: '0x1', relay, updatedAt: clock.now() })
    t.ok(await isHoldEnded(w))
    t.same(await events(w), [CREATED, ['pending', 'completed', 'reported', 1000, null]])
  }
})

test('gives all back when it fails', async t => {
  const w = await made()
  const before = await sums(w)
  t.equal(await report(w.id, 'failed', { reason: 'Closed.', paidCents: 960 }), 'applied')
  t.same(await moved(w, before), [1000, -1000, 0, 0])
  t.match(await find(w.id), { status: 'failed', reason: 'Closed.', attention: null, excessCents: 0 })
  t.ok(await isHoldEnded(w))
  t.same(await events(w), [CREATED, ['pending', 'failed', 'reported', 1000, null]])
})

test('throws, and changes nothing, when the money of an open withdrawal is not held', async t => {
  for (const status of ['completed', 'failed'] as const) {
    const w = await made()
    const held = ledgerAccounts.held(w.accountId, 'withdrawals')
    const move = (debit: string, credit: string): Promise<string> => {
      const cover = { exempt: 'held_before' }
      const transfer = { id: uniqueName(), debit, credit, amountCents: 980, cause: 'x', cover } as Transfer
      return inTransaction(tx => money.move(tx, transfer, [], clock.now()))
    }
    await move(held, FEES)
    await t.rejects(report(w.id, status), /was open, but its money was not held: insufficient/)
    t.same(await find(w.id), w)
    await move(FEES, held)
  }
})

test('keeps what was known of a withdrawal that is under way', async t => {
  const w = await made()
  t.equal(await report(w.id, 'pending', { txHash: '0x0' }), 'ignored')
  t.same(await find(w.id), w)
  t.equal(await report(w.id, 'ready', { txHash: '0x1', relay }), 'applied')
  t.match(await find(w.id), { status: 'ready', txHash: '0x1', relay })
  t.equal(await report(w.id, 'ready', { txHash: '0x2' }), 'ignored')
  t.match(await find(w.id), { txHash: '0x1' })
  for (const status of ['pending', 'ready'] as const) {
    await lose(w.id)
    t.equal(await report(w.id, status), 'applied')
    t.match(await find(w.id), { status: 'ready', attention: null, txHash: '0x1', relay }, 'never taken back')
  }
  const next = { ...relay, reference: 'r2' }
  await lose(w.id)
  t.equal(await report(w.id, 'ready', { txHash: '0x2', relay: next }), 'applied')
  t.match(await find(w.id), { txHash: '0x2', relay: next })
  t.equal(await report(w.id, 'completed'), 'applied')
  t.match(await find(w.id), { status: 'completed', txHash: '0x2', relay: next })
  t.same(await events(w), [
    CREATED,
    ['pending', 'ready', 'reported', 1000, null],
    ['ready', 'completed', 'reported', 1000, null],
  ])
})

test('asks for attention after a lost call, until the provider knows it', async t => {
  const w = await made()
  await lose(w.id)
  t.match(await find(w.id), { status: 'pending', attention: 'outcome_unknown' })
  t.equal(await report(w.id, 'pending'), 'applied')
  t.same(await find(w.id), { ...w, updatedAt: clock.now() })
  await report(w.id, 'completed')
  await lose(w.id)
  t.match(await find(w.id), { attention: null }, 'not once it has ended')
})

test('keeps what was paid beyond what was expected', async t => {
  for (const [paidCents, attention, excessCents] of [
    [null, null, 0],
    [940, 'amount_differs', 0],
    [949, 'amount_differs', 0],
    [950, null, 0],
    [951, 'amount_differs', 1],
    [960, 'amount_differs', 10],
  ] as const) {
    const w = await made()
    await report(w.id, 'completed', { paidCents })
    t.match(await find(w.id), { status: 'completed', attention, excessCents }, `${paidCents} paid`)
  }
})

test('keeps a report that contradicts the final state, once, and moves nothing', async t => {
  const cases = [
    ['completed', 'failed', 'returned'],
    ['failed', 'completed', 'paid_after_failure'],
  ] as const
  for (const [ended, late, attention] of cases)
    for (const paidCents of [null, 960]) {
      const w = await made()
      await report(w.id, ended)
      const before = await sums(w)
      const known = await find(w.id)
      for (const status of ['pending', 'ready', ended] as const)
        t.equal(await report(w.id, status, { paidCents: 1 }), 'ignored')
      t.same(await find(w.id), known)
      clock.advance(1)
      t.equal(await report(w.id, late, { paidCents, txHash: '0x9', reason: 'x' }), 'applied')
      const excessCents = paidCents ?? 950
      t.same(await find(w.id), { ...known, attention, excessCents, updatedAt: clock.now() })
      t.equal(await report(w.id, late, { paidCents }), 'ignored')
      t.match(await find(w.id), { excessCents })
      t.same(await moved(w, before), [0, 0, 0, 0])
      t.same((await events(w)).slice(2), [[ended, ended, attention, excessCents, null]])
    }
})

test('keeps a contradiction that names no money', async t => {
  const w = await made()
  await report(w.id, 'completed')
  t.equal(await report(w.id, 'failed', { paidCents: 0 }), 'applied')
  t.equal(await report(w.id, 'failed', { paidCents: 0 }), 'ignored')
  t.match(await find(w.id), { attention: 'returned', excessCents: 0 })
})

test('adds what comes late to what was paid in excess', async t => {
  const w = await made()
  await report(w.id, 'completed', { paidCents: 960 })
  await report(w.id, 'failed', { paidCents: 300 })
  t.match(await find(w.id), { status: 'completed', attention: 'returned', excessCents: 310 })
})

test('adds what a later report names beyond the most that was reported, once', async t => {
  const cases = [
    ['completed', null, 'completed', 'amount_differs', [[949], [950], [951, 1], [960, 9], [951], [960]]],
    ['completed', 960, 'completed', 'amount_differs', [[null], [960], [961, 1], [961]]],
    ['completed', null, 'failed', 'returned', [[300, 300], [299], [301, 1], [null, 649], [950], [951, 1]]],
    ['failed', null, 'completed', 'paid_after_failure', [[940, 940], [null, 10], [951, 1], [null]]],
  ] as const
  for (const [ended, paidCents, late, attention, reports] of cases) {
    const w = await made()
    await report(w.id, ended, { paidCents })
    const before = await sums(w)
    let { excessCents } = await find(w.id)
    for (const [paid, added] of reports as readonly (readonly [number | null, number?])[]) {
      const known = await find(w.id)
      clock.advance(1)
      t.equal(await report(w.id, late, { paidCents: paid }), added ? 'applied' : 'ignored', `${paid} paid`)
      excessCents += added ?? 0
      const kept = added ? { ...known, attention, excessCents, updatedAt: clock.now() } : known
      t.same(await find(w.id), kept, `${paid} paid`)
    }
    t.same(await moved(w, before), [0, 0, 0, 0])
    const amounts = reports.flatMap(([, added]) => (added === undefined ? [] : [added]))
    t.same(
      (await events(w)).slice(2),
      amounts.map(cents => [ended, ended, attention, cents, null]),
    )
  }
})

test('tells what was paid in excess from what came back', async t => {
  const w = await made()
  const steps = [
    ['completed', 960, 10],
    ['failed', 300, 310],
    ['completed', 960, 310],
    ['completed', 970, 320],
    ['failed', 300, 320],
    ['failed', 320, 340],
    ['completed', 971, 341],
  ] as const
  for (const [status, paidCents, excessCents] of steps) {
    await report(w.id, status, { paidCents })
    t.match(await find(w.id), { status: 'completed', excessCents }, `${status}, ${paidCents} paid`)
  }
})

test('asks for attention again when more is reported after an operator handled the last report', async t => {
  const w = await made()
  await resolve(w.id, 'completed')
  t.equal(await report(w.id, 'completed', { paidCents: 960 }), 'applied')
  t.match(await resolve(w.id, 'completed'), { attention: null, excessCents: 10 })
  t.equal(await report(w.id, 'completed', { paidCents: 960 }), 'ignored')
  t.equal(await report(w.id, 'completed', { paidCents: 970 }), 'applied')
  t.match(await find(w.id), { attention: 'amount_differs', excessCents: 20 })
})

test('an operator ends an open withdrawal', async t => {
  const paid = await made()
  const before = await sums(paid)
  t.match(await resolve(paid.id, 'completed'), { status: 'completed', reason: null, attention: null })
  t.same(await moved(paid, before), [0, -1000, 950, 50])
  t.same((await events(paid)).at(-1), ['pending', 'completed', 'operator', 1000, 'ticket-7'])
  const failed = await made()
  t.match(await resolve(failed.id, 'failed'), {
    status: 'failed',
    reason: 'The withdrawal could not be made.',
  })
  t.same((await sums(failed)).slice(0, 2), [1000, 0])
})

test('an operator settles the attention of a withdrawal that ended in that state', async t => {
  const w = await made()
  await report(w.id, 'completed', { paidCents: 960 })
  t.equal(await resolve(w.id, 'failed'), undefined)
  const known = await find(w.id)
  clock.advance(1)
  const settled = { ...known, attention: null, updatedAt: clock.now() }
  t.same(await resolve(w.id, 'completed'), settled)
  t.same(await find(w.id), settled)
  t.same((await events(w)).at(-1), ['completed', 'completed', 'resolved', 1000, 'ticket-7'])
  t.equal(await resolve(w.id, 'completed'), undefined, 'without attention')
  t.equal((await events(w)).length, 3)
})

test('a withdrawal that a worker sends cannot be made to fail', async t => {
  const w = await made()
  const lease = async (kind: string, subject: string, until: number): Promise<void> => {
    const text = `insert into gw_jobs (account_id, kind, subject_id, due_at, created_at, leased_until)
      values ($1, $2, $3, 1, 1, $4) on conflict (account_id, kind, subject_id) do update set leased_until = excluded.leased_until`
    await rows(db, text, [w.accountId, kind, subject, until])
  }
  await lease('withdrawal.send', untouched.id, clock.now() + 1)
  await lease('other', w.id, clock.now() + 1)
  await lease('withdrawal.send', w.id, clock.now() + 1)
  t.equal(await resolve(w.id, 'failed'), 'being_sent')
  t.same(await find(w.id), w)
  await lease('withdrawal.send', w.id, clock.now())
  t.match(await resolve(w.id, 'failed'), { status: 'failed' }, 'the lease has just ended')
  const sent = await made()
  await lease('withdrawal.send', sent.id, clock.now() + 1)
  t.match(await resolve(sent.id, 'completed'), { status: 'completed' }, 'but to be completed')
})

test('is open to polling until just before its end, newest first', async t => {
  const accountId = await addAccount(3000)
  const [one, two, three] = [await made(0, accountId), await made(0, accountId), await made(0, accountId)]
  const open = async (now: number): Promise<string[]> =>
    (await withdrawals.openToPolling(db, accountId, now)).map(({ id }) => id)
  const setPolling = (id: string, until: number | null): Promise<void> =>
    inTransaction(async tx => withdrawals.setPolling(tx, (await anyWithdrawal.find(tx, id))!, until))
  t.same(await open(0), [])
  const other = await made()
  await setPolling(other.id, 1000)
  await setPolling(one.id, 100)
  await setPolling(three.id, 101)
  t.same(await open(99), [three.id, one.id])
  t.same(await open(100), [three.id])
  t.equal((await find(one.id)).openToPollingUntil, 100)
  await setPolling(three.id, null)
  t.same(await open(99), [one.id])
  t.equal((await find(two.id)).openToPollingUntil, null)
})

test('counts the withdrawals of an account that are under way', async t => {
  const accountId = await addAccount(4000)
  const countOpen = async (account: string) => (await countOpenAndFindOwn(db, account, 'a')).open
  const [ready, completed] = [await made(0, accountId), await made(0, accountId)]
  t.equal(await countOpen(accountId), 2)
  await report(ready.id, 'ready')
  await report(completed.id, 'completed')
  await made(0, accountId)
  t.equal(await countOpen(accountId), 2)
  t.equal(await countOpen(await addAccount()), 0)
})

test('leaves a ledger in which all sums are right', async t => {
  t.match(await ledger.check(), { sumCents: 0, wrongAccounts: [] })
  t.same(await internals.accountsThatDiffer(db, internals.heldMoney), [])
})
