// What a restored database has lost of the deposits that a provider knows.
import { ledgerAccounts } from '@gatewright/host/internal'
import type { DepositReport } from '#packages/reference-host/dist/providers/deposits/port.js'
import { depositsRestored } from '#packages/reference-host/dist/modules/deposits/restored.js'
import t from 'tap'
import { openMoney } from '../../harness/money-operations.ts'

const { db, clock, services, addAccount, balance } = await openMoney(t)
const { deposits } = services

/** Compares with a provider that lists these changes. */
function restored(...changes: readonly (DepositReport & { readonly id: string })[]) {
  const changedSince = async () => ({ changes, next: null })
  const providers = { deposits: { name: 'p', changedSince } } as never
  return depositsRestored({ db, clock, providers, deposits }, { since: clock.now() } as never)
}

t.test('credits payments to a known deposit once', async t => {
  const accountId = await addAccount()
  const terms = { currency: 'usdc', network: 'base', amount: '25', minAmount: '1', maxAmount: '9' }
  const opened = { reference: 'r', depositAddress: 'a', extraId: null, chainId: null }
  const deposit = { id: 'dep_known', accountId, provider: 'p', ...terms, ...opened }
  await db.transaction(tx => deposits.create(tx, deposit, clock.now()))
  const paid = {
    id: 'dep_known',
    status: 'completed',
    payments: [{ id: 'pay-1', creditedCents: 2500 }],
  } as const
  t.match(await restored(paid), { done: [/1 of provider p compared, 1 brought/], differences: [] })
  t.match(await restored(paid), { done: [/1 of provider p compared, 0 brought/], differences: [] })
  t.equal(await balance(ledgerAccounts.user(accountId)), 2500)
})

t.test('names a deposit that the database does not know, unless it failed without a payment', async t => {
  const payments = [
    { id: 'pay-2', creditedCents: 2500 },
    { id: 'pay-3', creditedCents: 50 },
  ]
  const { differences } = await restored(
    { id: 'dep_paid', status: 'completed', payments },
    { id: 'dep_open', status: 'awaitingDeposit', payments: [] },
    { id: 'dep_failed', status: 'failed', payments: [] },
    { id: 'dep_late', status: 'failed', payments },
  )
  t.match(differences, [
    /^deposit dep_paid: provider p has received 25\.50 USD for it \(completed\), and this database does not/,
    /^deposit dep_open: provider p has received 0\.00 USD for it \(awaitingDeposit\)/,
    /^deposit dep_late: provider p has received 25\.50 USD for it \(failed\)/,
  ])
  t.equal(differences.length, 3)
})
