import { newId } from '@gatewright/host'
import { manualClock } from '@gatewright/kernel/testing'
import { ledgerAccounts } from '@gatewright/host/internal'
import { createLedger } from '#packages/host/dist/ledger/ledger.js'
import { systemAccounts } from '#packages/reference-host/dist/product/system-accounts.js'
import t from 'tap'
import { bearer } from '../../../harness/host.ts'
import { newMoneyUser } from '../../harness/money.ts'
import { startOpenHost } from '../../harness/open-host.ts'

const clock = manualClock(Date.UTC(2026, 0, 31, 12))
const { host, db, close } = await startOpenHost(clock)
t.teardown(close)
const ledger = createLedger(db)

/** Puts money into an account of the ledger, past the host. */
const put = (credit: string, amountCents: number): Promise<unknown> =>
  db.transaction(tx =>
    ledger.transfer(
      tx,
      { id: newId('test'), debit: systemAccounts.sandbox, credit, amountCents, cause: 'test' },
      clock.now(),
    ),
  )

async function fill(accountId: string): Promise<void> {
  await put(ledgerAccounts.user(accountId), 1000)
  await put(ledgerAccounts.held(accountId, 'cards'), 200)
  await put(ledgerAccounts.held(accountId, 'withdrawals'), 30)
  await put(ledgerAccounts.contract(accountId, 'ctr_1'), 4)
  await put(ledgerAccounts.contract(accountId, 'ctr_2'), 5)
  // Of another account, whose id begins with the same characters.
  await put(ledgerAccounts.contract(`${accountId}0`, 'ctr_3'), 7000)
  await put(ledgerAccounts.user(`${accountId}0`), 7000)
}
const accountOf = async (column: string, value: string): Promise<string> => {
  const { rows } = await db.query(`select account_id from gw_users where ${column} = $1`, [value])
  return (rows[0] as { account_id: string }).account_id
}

t.test('distinguishes what is available, promised and put aside', async t => {
  const user = await newMoneyUser(host.send, clock.now())
  const read = async () => (await user.read('/balances')).body.data['balances']
  const empty = { currency: 'USD', availableCents: 0, pendingCents: 0, contractsCents: 0 }
  t.same(await read(), [empty])
  await fill(await accountOf('id', user.userId))
  const filled = [{ ...empty, availableCents: 1000, pendingCents: 230, contractsCents: 9 }]
  t.same(await read(), filled)
  await host.chore('fold balances')
  t.same(await read(), filled, 'the same once it is folded')
})

t.test('responds to partners in their form, without a scope', async t => {
  const headers = { 'x-partner-key': host.partnerKey }
  await host.send('/partner/v1/users/resolve', { body: { userId: 'funded' }, headers })
  await fill(await accountOf('external_id', 'funded'))
  const body = { userId: 'funded', scopes: [] }
  const minted = await host.send('/partner/v1/sessions', { body, headers })
  const token = minted.body.data['sessionToken'] as string
  const response = await host.send('/partner/v1/balances', { headers: bearer(token) })
  t.same(response.body.data, {
    balances: {
      creditLimit: 1200,
      pendingCharges: 200,
      postedCharges: 0,
      balanceDue: 0,
      spendingPower: 1000,
    },
  })
})
