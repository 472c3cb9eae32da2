// What a provider has paid beyond what was expected of it.
import type { SqlClient, SqlQueries } from '@gatewright/kernel/sql'
import {
  createLedger,
  eventStore,
  ledgerAccounts,
  migrateHost,
  migrateLedger,
  type WithdrawalReport,
} from '@gatewright/reference-host'
import t, { type Test } from 'tap'
import { internals } from '../../../harness/internals.ts'
import { openSqlite } from '../../../harness/stores.ts'

const { createMoney, transactionStore, withdrawalRecords } = internals
const [AMOUNT, FEE] = [1000, 50]

/** Makes a withdrawal of 1000 cents less a fee of 50, gives it reports, and returns how it is stored after each. */
async function reported(t: Test, reports: readonly Partial<WithdrawalReport>[]) {
  const { connections, close } = await openSqlite(1, async db => {
    await migrateHost(db, 'sqlite')
    await migrateLedger(db, 'sqlite')
  })
  t.teardown(close)
  const [db] = connections as [SqlClient]
  const money = createMoney(createLedger(db, 'sqlite'), transactionStore('sqlite'))
  const withdrawals = withdrawalRecords({
    dialect: 'sqlite',
    money,
    events: eventStore('sqlite'),
    guard: { settle: async () => true, release: async () => true } as never,
    spendStorage: () => ({}) as never,
  })
  const entry = {
    accountId: 'acc_1',
    type: 'collateral',
    status: 'completed',
    direction: 'credit',
    source: { kind: 'credit', id: 'one' },
    amountCents: AMOUNT,
    description: '',
  } as const
  const fund = {
    id: 'fund',
    debit: ledgerAccounts.sandbox,
    credit: ledgerAccounts.user('acc_1'),
    amountCents: AMOUNT,
    cause: 'fund',
  }
  const requested = { amountCents: AMOUNT, currency: 'USD' }
  const terms = {
    id: 'wd_1',
    accountId: 'acc_1',
    provider: 'bank',
    amountCents: AMOUNT,
    feeCents: FEE,
    destination: { currency: 'usdc', network: 'base', address: 'a', extraId: null },
    hold: { id: 'wd_1', accountId: 'acc_1', amountCents: AMOUNT, requested, held: true },
  }
  await db.transaction(async (tx: SqlQueries) => {
    await money.move(tx, fund, [entry], 1)
    await withdrawals.create(tx, terms, 1)
  })
  const states: unknown[] = []
  for (const changes of reports) {
    const none = { paidCents: null, txHash: null, relay: null, reason: null }
    const report = { id: 'wd_1', status: 'completed' as const, ...none, ...changes }
    await db.transaction(tx => withdrawals.report(tx, 'bank', report, 2))
    const stored = await withdrawals.find(db, 'acc_1', 'wd_1')
    states.push([stored?.status, stored?.attention, stored?.excessCents])
  }
  return states
}

t.test('keeps what was paid beyond the amount less the fee', async t => {
  t.same(await reported(t, [{ paidCents: 960 }]), [['completed', 'amount_differs', 10]])
  t.same(await reported(t, [{ paidCents: 951 }]), [['completed', 'amount_differs', 1]])
})

t.test('keeps no excess when as much was paid as expected, less, or nobody knows', async t => {
  t.same(await reported(t, [{ paidCents: 950 }]), [['completed', null, 0]])
  t.same(await reported(t, [{ paidCents: 940 }]), [['completed', 'amount_differs', 0]])
  t.same(await reported(t, [{ paidCents: null }]), [['completed', null, 0]])
  t.same(await reported(t, [{ status: 'failed', paidCents: 960 }]), [['failed', null, 0]])
})

t.test('keeps all that was paid after the withdrawal had failed, once', async t => {
  const failed = { status: 'failed' } as const
  t.same(await reported(t, [failed, { paidCents: 960 }, { paidCents: 960 }]), [
    ['failed', null, 0],
    ['failed', 'paid_after_failure', 960],
    ['failed', 'paid_after_failure', 960],
  ])
  t.same(await reported(t, [failed, { paidCents: null }]), [
    ['failed', null, 0],
    ['failed', 'paid_after_failure', AMOUNT - FEE],
  ])
})
