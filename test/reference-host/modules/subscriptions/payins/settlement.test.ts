import { rows } from '@gatewright/kernel/sql'
import { ledgerAccounts } from '@gatewright/host/internal'
import { systemAccounts } from '#packages/reference-host/dist/product/system-accounts.js'
import t from 'tap'
import * as internals from '../../../../harness/internals.ts'
import { uniqueName } from '../../../../harness/stores.ts'
import { openPayins, PAY_TO, SEEN } from './open-payins.ts'

const { db, clock, ledger, services, settlement, addAccount, balance, history, ...payinsOf } =
  await openPayins(t)
const { make, hold, spend, used, find, locked, moves, sums } = payinsOf
const usedInAll = async (accountId: string): Promise<number> =>
  Object.values(await used(accountId)).reduce((sum, each) => sum + each, 0)
const denial = { ok: false, code: 'policy_blocked', status: 403, message: 'no' } as const
const CREATED = [null, 'awaiting_payment', 'created', null]
const entries = async (accountId: string): Promise<unknown[]> =>
  (await internals.transactions.page(db, accountId, { limit: 20 })).rows
    .filter(({ source }) => source.kind === 'payin')
    .map(each => [each.direction, each.amountCents, each.status, each.description])
const eventsOf = async (accountId: string, id: string): Promise<readonly unknown[]> =>
  history(accountId, 'payin', id)
const subscribe = (accountId: string) =>
  db.transaction(tx => {
    const plan = { id: 'pro', amountCents: 100, interval: 'month', name: 'Pro', features: [] } as never
    return internals.subscriptions.insert(tx, { effectId: uniqueName(), accountId, plan, now: clock.now() })
  })
const termOf = async (accountId: string, id: string): Promise<unknown> =>
  (await internals.subscriptions.find(db, accountId, id))?.term

t.test('a payment from the balance counts under the caps of the payer only', async t => {
  const accountId = await addAccount(500)
  const { id } = await make(accountId, {}, await hold(accountId))
  const [asker] = Object.keys(await used(accountId)) as [string]
  t.same(await used(accountId), { [asker]: 100 })
  const before = await sums(accountId)
  clock.advance(1)
  const paid = await locked(id, (tx, payin) =>
    settlement.payFromBalance(
      tx,
      payin,
      { keyId: 'payer', reserve: () => spend(tx, accountId, 'payer') },
      clock.now(),
    ),
  )
  t.match(paid, { ok: true, value: { status: 'settled', method: 'balance', moves: 2 } })
  const { [asker]: ofAsker, ...ofPayer } = await used(accountId)
  t.same([ofAsker, Object.values(ofPayer)], [0, [100]])
  t.same(await rows(db, 'select 1 from gw_spend_holds'), [], 'no hold is left')
  t.same(
    (await sums(accountId)).map((cents, at) => cents - before[at]!),
    [-100, 100, 0],
  )
  t.same(await entries(accountId), [['debit', 100, 'completed', 'Plan pro']])
  t.same(await moves(id), [CREATED, ['awaiting_payment', 'settled', 'paid_from_balance', null]])
  t.same(await eventsOf(accountId, id), [['awaiting_payment', 'settled', 'paid_from_balance', 100, null]])
})

t.test('pays without caps, too, and extends the subscription that it is for', async t => {
  const accountId = await addAccount(500)
  const { id: subscriptionId } = await subscribe(accountId)
  const other = await subscribe(accountId)
  const { id } = await make(accountId, { subscriptionId })
  const pay = (payinId: string) =>
    locked(payinId, (tx, payin) =>
      settlement.payFromBalance(
        tx,
        payin,
        { keyId: 'payer', reserve: () => spend(tx, accountId) },
        clock.now(),
      ),
    )
  t.match(await pay(id), { ok: true })
  t.same(await termOf(accountId, subscriptionId), { anchorAt: clock.now(), months: 1 })
  t.equal(await termOf(accountId, other.id), null)
  await t.rejects(pay(id), /the ledger already has it: repeated/)
  t.equal(await balance(ledgerAccounts.user(accountId)), 400)
})

t.test('denies what the caps or the balance of the payer do not allow', async t => {
  const accountId = await addAccount(99)
  const { id } = await make(accountId)
  const before = await sums(accountId)
  const pay = (answer?: typeof denial) =>
    locked(id, async (tx, payin) => {
      const result = await settlement.payFromBalance(
        tx,
        payin,
        { keyId: 'payer', reserve: async () => answer ?? spend(tx, accountId) },
        clock.now(),
      )
      throw Object.assign(new Error('rolled back'), { result })
    }).catch(({ result }) => result)
  t.same(await pay(denial), denial)
  t.match(await pay(), { ok: false, code: 'invalid_request', field: 'payinId' })
  t.match(await find(id), { status: 'awaiting_payment', moves: 1 })
  t.same([await sums(accountId), await eventsOf(accountId, id)], [before, []])
})

t.test('a payment on a chain buys a plan, or fills the balance', async t => {
  const accountId = await addAccount(100)
  let spent = 0
  for (const [planId, changes, entry] of [
    ['pro', [0, 100, -100], undefined],
    [null, [100, 0, -100], ['credit', 100, 'completed', 'Payment into the balance']],
  ] as const) {
    const { id } = await make(accountId, { planId, payTo: PAY_TO }, await hold(accountId))
    const before = await sums(accountId)
    clock.advance(1)
    const seen = { ...SEEN, txHash: `0x${planId}` }
    const settled = await locked(id, (tx, payin) => settlement.settleOnChain(tx, payin, seen, clock.now()))
    t.match(settled, { status: 'settled', method: 'onchain', seen, moves: 2 })
    t.same(await find(id), settled)
    t.same(
      (await sums(accountId)).map((cents, at) => cents - before[at]!),
      changes,
    )
    t.same(await entries(accountId), entry ? [entry] : [])
    spent += 100
    t.equal(await usedInAll(accountId), spent, 'it counts as spent')
    t.same(await moves(id), [CREATED, ['awaiting_payment', 'settled', 'paid_on_chain', seen.txHash]])
    t.same(await eventsOf(accountId, id), [['awaiting_payment', 'settled', 'paid_on_chain', 100, null]])
  }
  t.same(await rows(db, 'select 1 from gw_spend_holds'), [])
  const without = await make(accountId, { payTo: PAY_TO })
  t.match(await locked(without.id, (tx, payin) => settlement.settleOnChain(tx, payin, SEEN, clock.now())), {
    status: 'settled',
  })
})

t.test('play money settles a pay-in like a transfer, from the account of the sandbox', async t => {
  const accountId = await addAccount()
  for (const submitted of [false, true]) {
    const { id } = await make(accountId, { planId: null, payTo: PAY_TO }, await hold(accountId))
    if (submitted)
      await locked(id, (tx, payin) =>
        internals.payins.move(tx, payin, 'submitted', { submittedTx: '0x9', now: clock.now() }),
      )
    const from = submitted ? 'confirming' : 'awaiting_payment'
    const [before, sandbox, spent] = [
      await sums(accountId),
      await balance(systemAccounts.sandbox),
      await usedInAll(accountId),
    ]
    t.match(await locked(id, (tx, payin) => settlement.settleWithPlayMoney(tx, payin, clock.now())), {
      status: 'settled',
      seen: null,
    })
    t.same(
      (await sums(accountId)).map((cents, at) => cents - before[at]!),
      [100, 0, 0],
      'no chain paid',
    )
    t.equal((await balance(systemAccounts.sandbox)) - sandbox, -100)
    t.equal(await usedInAll(accountId), spent, 'what was held is spent')
    t.same((await moves(id)).at(-1), [from, 'settled', 'simulated', null])
    t.same(await eventsOf(accountId, id), [[from, 'settled', 'simulated', 100, null]])
  }
  t.same(await rows(db, 'select 1 from gw_spend_holds'), [])
})

t.test('throws, and moves nothing, when the ledger has the transfer of an open pay-in already', async t => {
  const accountId = await addAccount(100)
  const { id } = await make(accountId, { payTo: PAY_TO })
  const debit = systemAccounts.operator
  const credit = systemAccounts.fees
  const transfer = { id: `payin:${id}`, accountId, debit, credit, amountCents: 1, cause: 'x' }
  await db.transaction(tx => services.money.move(tx, transfer, [], clock.now()))
  const before = await sums(accountId)
  await t.rejects(
    locked(id, (tx, payin) => settlement.settleOnChain(tx, payin, SEEN, clock.now())),
    /was open, but the ledger already has it: conflict/,
  )
  t.same([await sums(accountId), (await find(id))?.status], [before, 'awaiting_payment'])
})

t.test('gives the caps back when a pay-in closes unpaid', async t => {
  const accountId = await addAccount()
  for (const [from, cause, to] of [
    ['awaiting_payment', 'deadline_passed', 'expired'],
    ['confirming', 'payment_invalid', 'failed'],
    ['confirming', 'canceled', 'canceled'],
  ] as const) {
    const { id } = await make(accountId, {}, await hold(accountId))
    if (from === 'confirming')
      await locked(id, (tx, payin) =>
        internals.payins.move(tx, payin, 'submitted', { submittedTx: '0x9', now: clock.now() }),
      )
    const known = (await find(id))!
    const closed = await locked(id, (tx, payin) => settlement.close(tx, payin, cause, clock.now()))
    t.same(closed, { ...known, status: to, moves: known.moves + 1 })
    t.equal(await usedInAll(accountId), 0)
    t.same((await moves(id)).at(-1), [from, to, cause, null])
    t.same(await eventsOf(accountId, id), [[from, to, cause, 100, null]])
  }
  const { id } = await make(accountId)
  t.match(await locked(id, (tx, payin) => settlement.close(tx, payin, 'canceled', clock.now())), {
    status: 'canceled',
  })
  t.same(await rows(db, 'select 1 from gw_spend_holds'), [])
})

t.test('leaves a ledger in which all sums are right', async t => {
  t.match(await ledger.check(), { sumCents: 0, wrongAccounts: [] })
})

t.test('one transfer settles one of the pay-ins of 8 accounts, whichever commits first', async t => {
  const { db, others, clock, addAccount, ...payinsOf } = await openPayins(t, 'postgres', 8)
  const connections = [db, ...others]
  const fromChain = async (accountId: string): Promise<number> => (await payinsOf.sums(accountId))[2]!
  const accounts = await Promise.all(connections.map(() => addAccount()))
  for (let logIndex = 0; logIndex < 10; logIndex += 1) {
    const made = await Promise.all(accounts.map(accountId => payinsOf.make(accountId, { payTo: PAY_TO })))
    const before = await fromChain(accounts[0]!)
    const settled = await Promise.allSettled(
      made.map(({ accountId, id }, at) =>
        connections[at]!.transaction(async tx => {
          const payin = await internals.payins.lock(tx, accountId, id)
          return payinsOf.settlement.settleOnChain(tx, payin!, { ...SEEN, logIndex }, clock.now())
        }),
      ),
    )
    t.equal(settled.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const each of settled)
      if (each.status === 'rejected') t.match(each.reason, { code: 'ERR_STORE_UNAVAILABLE' })
    t.equal((await fromChain(accounts[0]!)) - before, -100, 'its money is booked once')
    const statuses = await Promise.all(made.map(({ id }) => payinsOf.find(id)))
    t.equal(statuses.filter(payin => payin?.status === 'settled').length, 1)
  }
})
