// Transactions that are missing beside transfers: named by the check, written by the repair, equal to what was lost.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rows } from '@gatewright/kernel/sql'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { gatewright as runGatewright, jsonOf, type Ran } from '../../harness/gatewright.ts'
import { startTestHost } from '../../harness/host.ts'
import { hostStores, keptHostStoresEnv } from '../../harness/host-stores.ts'
import { newMoneyUser, payinOf } from '../harness/money.ts'
import { memberOf, withdrawalBody } from '../harness/transfers.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'gatewright-repair-'))
const stores = await keptHostStoresEnv(hostStores())
t.teardown(async () => {
  await stores.drop()
  rmSync(dataDir, { recursive: true, force: true })
})
const env = { ...stores.env, DATA_DIR: dataDir, PORT: '0', ONBOARDING_GATES: 'partner', RATE_LIMITS: 'off' }
const gatewright = (...args: string[]): Promise<Ran> => runGatewright(args, env)
const { db, close } = openDatabaseOf(env)
t.teardown(close)

/** Moves money in every way, on an account of its own. */
async function moveMoney(): Promise<void> {
  const clock = manualClock(Date.now())
  const host = await startTestHost(env, clock)
  try {
    const friend = await newMoneyUser(host.send, clock.now())
    const { fund, write, ...user } = await newMoneyUser(host.send, clock.now())
    await fund(50_000)
    const deposit = memberOf(await write('/deposits', { currency: 'usdc', network: 'base' }), 'deposit')
    await write(`/sandbox/deposits/${deposit.id}/pay`, { amount: '20' })
    const contract = memberOf(await write('/contracts', { label: 'Rent' }), 'contract')
    const move = { amountCents: 4000, fromContractId: null, toContractId: contract.id }
    await write('/deposits/transfer', move)
    await write('/deposits/transfer', { amountCents: 100, fromContractId: contract.id, toContractId: null })
    await write('/payments', { to: { walletAddress: friend.address }, amountCents: 1200 })
    const bill = memberOf(
      await write('/bills', { payee: 'City', amountCents: 77, dueAt: '2026-12-01' }),
      'bill',
    )
    await write(`/bills/${bill.id}/pay`, {})
    const { id: payinId } = payinOf(await write('/subscriptions/checkout', { plan: 'basic' }))
    await write('/subscriptions/payin/confirm-balance', { payinId })
    const card = memberOf(await write('/cards', {}), 'card')
    const pay = async (amountCents: number) =>
      memberOf(await write('/sandbox/authorizations', { cardId: card.id, amountCents }), 'authorization').id
    const [open, cleared, reversed] = [await pay(300), await pay(1000), await pay(700)]
    t.ok(open)
    await write(`/sandbox/authorizations/${cleared}/clear`, { amountCents: 900 })
    await write(`/sandbox/authorizations/${cleared}/refund`, { amountCents: 250 })
    await write(`/sandbox/authorizations/${reversed}/reverse`, {})
    await write('/withdrawals', withdrawalBody(2000))
    await host.chore('run jobs')
    clock.advance(6000)
    await host.chore('run jobs')
    await write('/withdrawals', withdrawalBody(1_000))
    t.ok((await user.balance()) > 0)
  } finally {
    await host.close()
  }
}

/** The transactions of all accounts, without what belongs to the row and what no other row says. */
async function transactions(): Promise<readonly object[]> {
  const found = await rows(db, 'select * from gw_transactions order by source_kind, source_id, part')
  return found.map(({ id: _id, position: _position, memo: _memo, key_id: _key, ...row }) => ({
    ...row,
    updated_at: row['created_at'],
  }))
}

await moveMoney()
await gatewright('ledger', 'credit', await anAccount(), '1.25', 'wire-1', '--yes')

async function anAccount(): Promise<string> {
  const [row] = await rows(db, 'select account_id from gw_withdrawals limit 1')
  return String(row?.['account_id'])
}

t.test('names missing transactions, and writes them as they were', async t => {
  const before = await transactions()
  t.equal(new Set(before.map(row => (row as Record<string, unknown>)['source_kind'])).size, 8)
  t.match(await gatewright('ledger', 'repair', '--plan'), { code: 0, output: 'No transaction is missing.' })
  t.match(await gatewright('ledger', 'repair', '--yes'), { code: 0, output: /^Written: 0\./ })
  await rows(db, 'delete from gw_transactions')

  const broken = await gatewright('ledger', 'check', '--full')
  t.equal(broken.code, 1)
  t.match(broken.output, /^the ledger is broken: user:acc_\w+ has/)
  t.match(
    broken.output,
    /^acc_\w+ has no transaction for withdrawal wd_\S+: debit of 20\.00 USD, completed,/m,
  )
  t.match(broken.output, /gatewright ledger repair --plan$/m)
  const plan = await gatewright('ledger', 'repair', '--plan')
  t.match(
    plan.output,
    /has no transaction for authorization \S+ \(refund:\S+\): credit of 2\.50 USD, completed/,
  )
  t.same(await transactions(), [], 'a plan writes nothing')
  t.match(await gatewright('ledger', 'repair'), {
    code: 2,
    output: /needs --yes.*see the transactions at once/s,
  })

  t.match(await gatewright('ledger', 'repair', '--yes'), {
    code: 0,
    output: new RegExp(`^Written: ${before.length}\\. Now run`),
  })
  t.same(await transactions(), before)
  t.match(await gatewright('ledger', 'check', '--full'), { code: 0, output: /no differences/ })
  const actions = jsonOf<object[]>(await gatewright('audit', 'operator', '--json'))
  t.equal(actions.length, before.length, 'each has a record of the action')
  t.match(actions[0], { command: 'ledger repair', detail: /^wrote the transaction of / })
})

t.test('says which transfers it cannot explain, and leaves wrong amounts alone', async t => {
  await rows(db, "update gw_transactions set amount_cents = amount_cents + 1 where source_kind = 'credit'")
  t.match(await gatewright('ledger', 'repair', '--plan'), { code: 0, output: 'No transaction is missing.' })
  await rows(db, "update gw_transactions set amount_cents = amount_cents - 1 where source_kind = 'credit'")

  await rows(db, "delete from gw_transactions where source_kind = 'withdrawal'")
  await rows(db, "update gw_withdrawals set account_id = 'acc_other' where status = 'completed'")
  const { output } = await gatewright('ledger', 'repair', '--yes')
  t.match(output, /^Written: 1\./)
  t.match(output, /no transaction for transfer wd_\S+, a debit of 20\.00 USD of \S+Z: it cannot be made/)
})
