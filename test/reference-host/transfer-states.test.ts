// State tables of deposits and withdrawals under random orders of events, with their money.
import assert from 'node:assert/strict'
import { Fault } from '@gatewright/kernel'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { manualClock } from '@gatewright/kernel/testing'
import { ledgerAccounts } from '@gatewright/host/internal'
import { createLedger } from '#packages/host/dist/ledger/ledger.js'
import { migrateLedger } from '#packages/host/dist/ledger/ledger.js'
import { systemAccounts } from '#packages/reference-host/dist/product/system-accounts.js'
import { migrateHost } from '#packages/reference-host/dist/product/migrate.js'
import type { WithdrawalProvider, WithdrawalReport } from '@gatewright/reference-host'
import type { DepositReport } from '#packages/reference-host/dist/providers/deposits/port.js'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { randomCases } from '../harness/random-cases.ts'
import { holds } from '../harness/holds.ts'
import * as internals from '../harness/internals.ts'
import { openSqlite } from '../harness/stores.ts'

const {
  accountsThatDiffer,
  heldMoney,
  createMoney,
  depositRecords,
  depositTable,
  jobQueue,
  sendJob,
  SEND_JOB,
} = internals
const { withdrawalRecords, withdrawalTable } = internals

async function setUp(t: Test) {
  const { connections, close } = await openSqlite(1, async db => {
    await migrateHost(db)
    await migrateLedger(db)
  })
  t.teardown(close)
  const [db] = connections as [SqlClient]
  const ledger = createLedger(db)
  const money = createMoney(ledger)
  const report = (): void => {}
  return { db, ledger, money, report }
}

/** The events of a subject follow each other; each change of state must be in the table. */
async function checkHistory(
  db: SqlClient,
  id: string,
  isListed: (from: string | null, to: string) => boolean,
): Promise<unknown> {
  let status: unknown = null
  const text = 'select from_status, to_status from gw_events where subject_id = $1 order by number'
  for (const { from_status: from, to_status: to } of await rows(db, text, [id])) {
    assert.equal(from, status)
    assert.ok(from === to || isListed(from as string | null, String(to)), `${String(from)} -> ${String(to)}`)
    status = to
  }
  return status
}

const DEPOSIT_TABLE = new Set([
  'null awaitingDeposit',
  'awaitingDeposit processing',
  'awaitingDeposit failed',
  'processing failed',
  'awaitingDeposit completed',
  'processing completed',
  'failed completed',
])

t.test('a deposit makes only listed changes, and credits each payment id once', async t => {
  const { db, ledger, ...services } = await setUp(t)
  const deposits = depositRecords(services)
  const status = fc.constantFrom<DepositReport['status'][]>(
    'awaitingDeposit',
    'processing',
    'completed',
    'failed',
  )
  const payment = fc.record({
    id: fc.constantFrom('a', 'b', 'c'),
    creditedCents: fc.integer({ min: 1, max: 9 }),
  })
  const report = fc.record({
    on: fc.nat({ max: 1 }),
    status,
    payments: fc.array(payment, { maxLength: 3 }),
    provider: fc.constantFrom('bank', 'bank', 'bank', 'other'),
  })
  let runs = 0
  await holds(
    t,
    fc.asyncProperty(fc.array(report, { maxLength: 10 }), async reports => {
      const run = ++runs
      const accountId = `acc_${run}`
      const ids = [`dep_${run}a`, `dep_${run}b`]
      const opened = {
        currency: 'usdc',
        network: 'base',
        amount: null,
        reference: 'r',
        depositAddress: 'a',
        extraId: null,
        chainId: null,
        minAmount: '1',
        maxAmount: null,
        provider: 'bank',
        accountId,
      }
      for (const id of ids) await db.transaction(tx => deposits.create(tx, { ...opened, id }, 0))
      const credited = new Map<string, { readonly on: string; readonly cents: number }>()
      const conflicts = new Set<string>()
      for (const { on, provider, status: to, payments } of reports) {
        const id = ids[on] as string
        const unique = payments.map(each => ({ ...each, id: `${run}${each.id}` }))
        const outcome = await db.transaction(tx =>
          deposits.report(tx, provider, { id, status: to, payments: unique }, 1),
        )
        assert.equal(outcome === 'unknown', provider === 'other')
        if (provider === 'other') continue
        for (const each of unique) {
          const known = credited.get(each.id)
          if (!known) credited.set(each.id, { on: id, cents: each.creditedCents })
          else if (known.on !== id || known.cents !== each.creditedCents) conflicts.add(id)
        }
      }
      const all = [...credited.values()]
      for (const id of ids) {
        const deposit = await depositTable.find(db, accountId, id)
        assert.equal(
          await checkHistory(db, id, (from, to) => DEPOSIT_TABLE.has(`${from} ${to}`)),
          deposit?.status,
        )
        const text = 'select id from gw_deposits where id = $1 and attention is not null'
        assert.equal((await rows(db, text, [id])).length === 1, conflicts.has(id))
        const paid = all.filter(each => each.on === id)
        assert.equal(deposit?.status === 'completed', paid.length > 0)
        const stored = (await deposits.payments(db, deposit ? [deposit] : [])).get(id)
        const cents = paid.map(each => each.cents)
        assert.deepEqual(stored?.last.map(each => each.creditedCents) ?? [], cents.slice(-20))
        assert.equal(
          stored?.creditedCents ?? 0,
          cents.reduce((sum, each) => sum + each, 0),
        )
      }
      const sum = all.reduce((total, each) => total + each.cents, 0)
      assert.equal(await ledger.balance(db, ledgerAccounts.user(accountId)), sum)
      assert.deepEqual(await accountsThatDiffer(db, heldMoney), [])
    }),
    { numRuns: randomCases(100) },
  )
})

const WITHDRAWAL_TABLE = new Set([
  'null pending',
  'pending ready',
  'pending completed',
  'pending failed',
  'ready completed',
  'ready failed',
])
const AMOUNT = 1000
const FEE = 50

t.test('a withdrawal makes only listed changes, is paid once, and ends its hold once', async t => {
  const { db, ledger, money } = await setUp(t)
  const clock = manualClock(1)
  const ended = new Map<string, string[]>()
  const note = (what: string) => async (hold: { readonly id: string }) => {
    ended.set(hold.id, [...(ended.get(hold.id) ?? []), what])
    return true
  }
  const guard = { settle: note('settled'), release: note('released') } as never
  const withdrawals = withdrawalRecords({ money, guard, spendStorage: () => ({}) as never })
  let says: { find: Said; send: Said } = { find: 'nothing', send: 'ready' }
  /** Which ids the provider has taken. */
  const taken = new Map<string, number>()
  const reportOf = (
    status: WithdrawalReport['status'],
    paidCents: number | null = null,
  ): WithdrawalReport => ({
    status,
    paidCents,
    txHash: null,
    relay: null,
    reason: status === 'failed' ? 'Refused.' : null,
  })
  const down = (): never => {
    throw new Fault('ERR_PROVIDER_UNAVAILABLE', 'is down')
  }
  const provider: WithdrawalProvider = {
    name: 'bank',
    assets: down,
    quote: down,
    async find(id) {
      if (says.find === 'down') down()
      // A correct provider never forgets what it took.
      if (says.find === 'nothing') return taken.has(id) ? reportOf('ready') : undefined
      return reportOf(says.find as WithdrawalReport['status'])
    },
    async send(id) {
      if (says.send === 'rejected') return { rejected: 'No.' }
      taken.set(id, (taken.get(id) ?? 0) + 1)
      return says.send === 'down' ? down() : reportOf('ready')
    },
  }
  const handler = sendJob({ db, clock, withdrawals, report: () => {} }, { provider, count: () => {} })
  const jobs = jobQueue({ db, clock, handlers: { [SEND_JOB]: handler }, report: () => {} })
  const status = fc.constantFrom<WithdrawalReport['status'][]>('pending', 'ready', 'completed', 'failed')
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('report' as const),
      status,
      paidCents: fc.option(fc.constantFrom(AMOUNT - FEE, 940, 960), { freq: 1 }),
    }),
    fc.record({
      kind: fc.constant('resolve' as const),
      status: fc.constantFrom('completed' as const, 'failed' as const),
    }),
    fc.record({
      kind: fc.constant('job' as const),
      find: fc.constantFrom<Said[]>('nothing', 'nothing', 'down', 'ready', 'completed', 'failed'),
      send: fc.constantFrom<Said[]>('ready', 'down', 'rejected'),
    }),
  )
  let runs = 0
  await holds(
    t,
    fc.asyncProperty(fc.array(step, { maxLength: 10 }), async steps => {
      const [accountId, id] = [`acc_${++runs}`, `wd_${runs}`]
      const user = ledgerAccounts.user(accountId)
      const requested = { amountCents: AMOUNT, currency: 'USD' }
      const hold = { id, accountId, amountCents: AMOUNT, requested, held: true }
      const destination = { currency: 'usdc', network: 'base', address: 'a', extraId: null }
      const entry = {
        accountId,
        type: 'collateral',
        status: 'completed',
        direction: 'credit',
        source: { kind: 'credit', id: accountId },
        amountCents: AMOUNT,
        description: '',
      } as const
      const fund = {
        id: `fund:${accountId}`,
        debit: systemAccounts.sandbox,
        credit: user,
        amountCents: AMOUNT,
      }
      const terms = { amountCents: AMOUNT, feeCents: FEE, destination, id, accountId, provider: 'bank', hold }
      await db.transaction(async (tx: SqlQueries) => {
        await money.move(tx, { ...fund, cause: 'fund' }, [entry], 1)
        await withdrawals.create(tx, terms, 1)
        await jobs.add(tx, { kind: SEND_JOB, accountId, subjectId: id }, clock.now())
      })
      for (const each of steps) {
        clock.advance(700_000)
        const before = await withdrawalTable.find(db, accountId, id)
        if (each.kind === 'report') {
          const report = { id, ...reportOf(each.status, each.paidCents) }
          await db.transaction(tx => withdrawals.report(tx, 'bank', report, clock.now()))
        } else if (each.kind === 'resolve') {
          const decision = { status: each.status, reference: 'ticket' }
          await db.transaction(tx => withdrawals.resolve(tx, id, decision, clock.now()))
        } else {
          says = each
          const sent = taken.get(id)
          await jobs.runNow({ kind: SEND_JOB, accountId, subjectId: id })
          if (before?.status !== 'pending') assert.equal(taken.get(id), sent, 'only what is pending is sent')
        }
        const after = await withdrawalTable.find(db, accountId, id)
        const final = before?.status === 'completed' || before?.status === 'failed'
        if (final) assert.equal(after?.status, before.status, 'a final state stays')
        assert.deepEqual(await accountsThatDiffer(db, heldMoney), [])
      }
      const last = await withdrawalTable.find(db, accountId, id)
      assert.equal(
        await checkHistory(db, id, (from, to) => WITHDRAWAL_TABLE.has(`${from} ${to}`)),
        last?.status,
      )
      assert.ok((taken.get(id) ?? 0) <= 1, 'it was sent once')
      const balances = await Promise.all(
        [user, ledgerAccounts.held(accountId, 'withdrawals')].map(account => ledger.balance(db, account)),
      )
      const ends = { completed: [0, 0, 'settled'], failed: [AMOUNT, 0, 'released'] } as const
      const [left, held, how] = ends[last?.status as 'completed'] ?? [0, AMOUNT]
      assert.deepEqual(balances, [left, held])
      assert.deepEqual(ended.get(id) ?? [], how === undefined ? [] : [how], 'the hold ends once')
      assert.ok(
        (last?.excessCents ?? 0) === 0 ||
          last?.attention !== null ||
          steps.some(each => each.kind === 'resolve'),
      )
    }),
    { numRuns: randomCases(150) },
  )
})

type Said = WithdrawalReport['status'] | 'nothing' | 'down' | 'rejected'
