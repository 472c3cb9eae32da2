import assert from 'node:assert/strict'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import type { SqlDialect } from '@gatewright/kernel/internal/sql'
import { race } from '@gatewright/kernel/testing'
import { ledgerAccounts } from '@gatewright/host/internal'
import { type Ledger, createLedger } from '#packages/host/dist/ledger/ledger.js'
import { migrateLedger, type Transfer } from '#packages/host/dist/ledger/ledger.js'
import { systemAccounts } from '#packages/reference-host/dist/product/system-accounts.js'
import type { SpendHold } from '@gatewright/scope-guard'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { withAwaitedQueries } from '../../harness/databases/awaited-queries.ts'
import { holds } from '../../harness/holds.ts'
import { openKeptPostgres } from '../../harness/databases/kept-postgres.ts'
import { openPostgres, openSqlite, uniqueName } from '../../harness/stores.ts'

const NOW = 1_767_225_600_000
const { user } = ledgerAccounts
const { operator, revenue } = systemAccounts

interface OpenLedgers {
  readonly dbs: readonly SqlClient[]
  readonly ledgers: readonly Ledger[]
}

/**
 * Runs a test on both databases: over four connections of Postgres, and over the single writer of an embedded
 * SQLite.
 */
function onBoth(title: string, run: (t: Test, opened: OpenLedgers) => Promise<void>): void {
  for (const dialect of ['postgres', 'sqlite'] as const) {
    t.test(`${dialect}: ${title}`, async t => {
      const { connections, close } = await opener(dialect)(dialect === 'postgres' ? 4 : 1, migrateLedger)
      t.teardown(close)
      const dbs = connections.map(withAwaitedQueries)
      await run(t, { dbs, ledgers: dbs.map(db => createLedger(db)) })
    })
  }
}
const opener = (dialect: SqlDialect) => (dialect === 'postgres' ? openKeptPostgres : openSqlite)

const transferOf = (debit: string, credit: string, amountCents: number, id = uniqueName()): Transfer =>
  ({
    id,
    debit,
    credit,
    amountCents,
    cause: 'test',
    ...(debit.startsWith('user:') ? { cover: { exempt: 'operator_correction' } } : {}),
  }) as Transfer
const fail = (error: unknown): never => {
  throw error
}
const move = (db: SqlClient, ledger: Ledger, transfer: Transfer): Promise<string> =>
  db.transaction(tx => ledger.transfer(tx, transfer, NOW))

onBoth('moves money between two accounts, and an account without any has 0', async (t, { dbs, ledgers }) => {
  const [db, ledger] = [dbs[0]!, ledgers[0]!]
  t.equal(await ledger.balance(db, user('ann')), 0)
  t.equal(await move(db, ledger, transferOf(operator, user('ann'), 500)), 'done')
  t.equal(await move(db, ledger, transferOf(user('ann'), revenue, 200)), 'done')
  t.equal(await ledger.balance(db, user('ann')), 300)
  t.equal(await ledger.balance(db, revenue), 200)
  t.equal(await ledger.balance(db, operator), -500)
  t.match(await ledger.check(), { transfers: 2, sumCents: 0, wrongAccounts: [] })
})

onBoth('moves no cent that a user does not have', async (t, { dbs, ledgers }) => {
  const [db, ledger] = [dbs[0]!, ledgers[0]!]
  await move(db, ledger, transferOf(operator, user('ann'), 500))
  t.equal(await move(db, ledger, transferOf(user('ann'), revenue, 501)), 'insufficient')
  t.equal(await ledger.balance(db, user('ann')), 500)
  t.equal(await move(db, ledger, transferOf(user('ann'), revenue, 500)), 'done')
  const paidOut = { ...transferOf(revenue, operator, 501), accountId: '' }
  t.equal(await move(db, ledger, paidOut), 'insufficient', 'nor the house')
})

onBoth(
  "refuses to debit a user's account without a hold of that account and amount, whatever the types say",
  async (t, { dbs, ledgers }) => {
    const [db, ledger] = [dbs[0]!, ledgers[0]!]
    await move(db, ledger, transferOf(operator, user('ann'), 500))
    const hold = (accountId: string, amountCents: number, currency = 'USD'): SpendHold => ({
      id: uniqueName(),
      accountId,
      amountCents,
      held: false,
      requested: { amountCents, currency },
    })
    const debit = (cover: SpendHold | undefined, amountCents = 200): Promise<string> =>
      move(db, ledger, { ...transferOf(user('ann'), revenue, amountCents), cover } as Transfer)
    await t.rejects(debit(undefined), { name: 'TypeError', message: /needs the hold/ })
    await t.rejects(debit(hold('bob', 200)), { name: 'TypeError', message: /another account/ })
    await t.rejects(debit(hold('ann', 199)), { name: 'TypeError', message: /hold covers 199 USD, not 200/ })
    await t.rejects(debit(hold('ann', 200, 'EUR')), { name: 'TypeError', message: /200 EUR/ })
    const elsewhere = { ...transferOf(user('ann'), revenue, 1), cover: undefined, debit: 'held:ann:cards' }
    await t.rejects(move(db, ledger, elsewhere as unknown as Transfer), { message: /needs the hold/ })
    t.equal(await ledger.balance(db, user('ann')), 500)
    t.equal(await debit(hold('ann', 200)), 'done')
    t.equal(await debit(hold('ann', 200), 100), 'done', 'a hold covers less, too')
    t.equal(await ledger.balance(db, user('ann')), 200)
  },
)

onBoth(
  'one id of an account moves money once and never identifies another transfer',
  async (t, { dbs, ledgers }) => {
    const [db, ledger] = [dbs[0]!, ledgers[0]!]
    const from = (debit: string, credit: string, cents: number): Promise<string> =>
      move(db, ledger, transferOf(debit, credit, cents, 'a'))
    await move(db, ledger, transferOf(operator, user('ann'), 500))
    t.equal(await from(user('ann'), revenue, 5), 'done')
    t.equal(await from(user('ann'), revenue, 5), 'repeated')
    t.equal(await from(user('ann'), revenue, 6), 'conflict')
    t.equal(await from(user('ann'), user('bob'), 5), 'conflict')
    t.equal(await from(operator, user('ann'), 5), 'conflict')
    t.equal(await ledger.balance(db, user('ann')), 495)
    t.equal(await ledger.balance(db, user('bob')), 0)
    t.equal(await from(operator, user('bob'), 5), 'done', 'the id of another account')
    t.match(await ledger.check(), { sumCents: 0, wrongAccounts: [], wrongTransfers: [] })
  },
)

onBoth('an id is used in both accounts of a transfer', async (t, { dbs, ledgers }) => {
  const [db, ledger] = [dbs[0]!, ledgers[0]!]
  const from = (debit: string, credit: string, id: string): Promise<string> =>
    move(db, ledger, transferOf(debit, credit, 5, id))
  for (const name of ['ann', 'bob', 'cy']) await move(db, ledger, transferOf(operator, user(name), 500))
  t.equal(await from(user('ann'), user('cy'), 'a'), 'done')
  t.equal(await from(user('bob'), user('cy'), 'a'), 'conflict', 'of another payer')
  t.equal(await from(operator, user('cy'), 'a'), 'conflict', 'from outside')
  t.equal(await from(user('cy'), user('bob'), 'a'), 'conflict', 'paid on')
  await ledger.fold(10, fail)
  t.equal(await from(user('cy'), user('bob'), 'a'), 'conflict', 'nor later')
  t.equal(await from(user('ann'), user('cy'), 'a'), 'repeated')
  t.equal(await from(operator, user('cy'), 'b'), 'done')
  t.equal(await from(user('ann'), user('cy'), 'b'), 'conflict')
  t.equal(await ledger.balance(db, user('cy')), 510)
  t.equal(await ledger.balance(db, user('bob')), 500)
  t.match(await ledger.check(), { sumCents: 0, wrongAccounts: [], wrongTransfers: [] })
})

onBoth('payers with one id and one receiver at once: one pays', async (t, { dbs, ledgers }) => {
  const [db, ledger] = [dbs[0]!, ledgers[0]!]
  const names = ['ann', 'bob', 'cy', 'dee']
  for (const name of names) await move(db, ledger, transferOf(operator, user(name), 500))
  const pay = (n: number): Promise<string> =>
    move(dbs[n % dbs.length]!, ledgers[n % dbs.length]!, transferOf(user(names[n]!), user('eve'), 5, 'a'))
  // Who loses the race on Postgres gets a fault, and the result when it tries again.
  await race(names.length, n => pay(n).catch(() => 'fault'))
  const again = await race(names.length, pay)
  t.same(again.toSorted(), ['conflict', 'conflict', 'conflict', 'repeated'])
  t.equal(await ledger.balance(db, user('eve')), 5)
  t.match(await ledger.check(), { transfers: 5, sumCents: 0, wrongAccounts: [], wrongTransfers: [] })
})

onBoth('an id from outside moves money once on the whole host', async (t, { dbs, ledgers }) => {
  const [db, ledger] = [dbs[0]!, ledgers[0]!]
  const credit = (name: string, cents: number): Promise<string> =>
    move(db, ledger, { ...transferOf(operator, user(name), cents, 'deposit:1'), isExternal: true })
  t.equal(await credit('ann', 500), 'done')
  t.equal(await credit('ann', 500), 'repeated')
  t.equal(await credit('ann', 501), 'conflict')
  t.equal(await credit('bob', 500), 'conflict')
  t.equal(await ledger.balance(db, user('ann')), 500)
  t.equal(await ledger.balance(db, user('bob')), 0)
  const results = await race(20, n => {
    const transfer = { ...transferOf(operator, user(`user-${n % 5}`), 5, 'deposit:2'), isExternal: true }
    return move(dbs[n % dbs.length]!, ledgers[n % dbs.length]!, transfer)
  })
  t.equal(results.filter(result => result === 'done').length, 1)
  t.equal(results.filter(result => result === 'repeated').length, 3)
  t.match(await ledger.check(), { transfers: 2, sumCents: 0, wrongAccounts: [], wrongTransfers: [] })
})

onBoth(
  'an id from outside that an account has used elsewhere is free for others',
  async (t, { dbs, ledgers }) => {
    const [db, ledger] = [dbs[0]!, ledgers[0]!]
    await move(db, ledger, transferOf(operator, user('ann'), 5, 'deposit:1'))
    const credit = (name: string, cents: number): Promise<string> =>
      move(db, ledger, { ...transferOf(operator, user(name), cents, 'deposit:1'), isExternal: true })
    t.equal(await credit('ann', 6), 'conflict')
    t.equal(await credit('bob', 6), 'done')
    t.equal(await credit('ann', 6), 'conflict')
    t.equal(await credit('bob', 6), 'repeated')
    t.match(await ledger.check(), { transfers: 2, sumCents: 0, wrongAccounts: [], wrongTransfers: [] })
  },
)

onBoth('an id from outside can be used again after money was missing', async (t, { dbs, ledgers }) => {
  const [db, ledger] = [dbs[0]!, ledgers[0]!]
  const remit = { ...transferOf(revenue, operator, 5, 'remit:1'), isExternal: true, accountId: '' }
  t.equal(await move(db, ledger, remit), 'insufficient')
  await move(db, ledger, { ...transferOf(operator, revenue, 5), accountId: 'ann' })
  t.equal(await move(db, ledger, remit), 'done')
  t.equal(await move(db, ledger, remit), 'repeated')
  t.equal(await ledger.balance(db, revenue), 0)
})

onBoth('accepts exactly as many debits of the house at once as it has', async (t, { dbs, ledgers }) => {
  for (const name of ['ann', 'bob', 'cy'])
    await move(dbs[0]!, ledgers[0]!, { ...transferOf(operator, revenue, 35), accountId: name })
  const results = await race(20, n => {
    const transfer = { ...transferOf(revenue, operator, 10), accountId: `user-${n}` }
    return move(dbs[n % dbs.length]!, ledgers[n % dbs.length]!, transfer)
  })
  t.equal(results.filter(result => result === 'done').length, 10)
  t.equal(await ledgers[0]!.balance(dbs[0]!, revenue), 5)
  await ledgers[0]!.fold(10, fail)
  t.equal(await ledgers[0]!.balance(dbs[0]!, revenue), 5)
  t.match(await ledgers[0]!.check(), { sumCents: 0, wrongAccounts: [], wrongTransfers: [] })
})

onBoth(
  'a debit of the house is taken from the balance that its lock protects',
  async (t, { dbs, ledgers }) => {
    const [db, ledger] = [dbs[0]!, ledgers[0]!]
    const pending = async (): Promise<number[]> => {
      const text = 'select amount_cents as cents from gw_ledger_tail where ledger_account = $1'
      return (await rows(db, text, [revenue])).map(row => Number(row['cents']))
    }
    const debit = (amountCents: number, id?: string) =>
      move(db, ledger, { ...transferOf(revenue, operator, amountCents, id), accountId: 'bob' })
    await move(db, ledger, { ...transferOf(operator, revenue, 35), accountId: 'ann' })
    t.same(await pending(), [35])
    t.equal(await debit(7), 'done')
    t.equal(await debit(8, 'debit-8'), 'done')
    t.same(await pending(), [], 'no debit waits with the rows of a user')
    t.equal(await debit(21), 'insufficient')
    t.equal(await debit(8, 'debit-8'), 'repeated')
    t.equal(await debit(9, 'debit-8'), 'conflict')
    t.equal(await ledger.balance(db, revenue), 20)
    t.equal(await debit(20), 'done')
    t.equal(await ledger.balance(db, revenue), 0)
    t.match(await ledger.check(), { transfers: 4, sumCents: 0, wrongAccounts: [], wrongTransfers: [] })
  },
)

onBoth(
  'accepts as many debits of the house as it has while its amounts are folded',
  async (t, { dbs, ledgers }) => {
    for (let n = 0; n < 21; n++)
      await move(dbs[0]!, ledgers[0]!, { ...transferOf(operator, revenue, 5), accountId: `user-${n}` })
    const results = await race(40, async n => {
      const [db, ledger] = [dbs[n % dbs.length]!, ledgers[n % dbs.length]!]
      if (n % 4 === 3) return ledger.fold(2, fail)
      return move(db, ledger, { ...transferOf(revenue, operator, 10), accountId: `user-${n}` })
    })
    t.equal(results.filter(result => result === 'done').length, 10)
    t.equal(results.filter(result => result === 'insufficient').length, 20)
    t.equal(await ledgers[0]!.balance(dbs[0]!, revenue), 5)
    await ledgers[0]!.fold(2, fail)
    t.equal(await ledgers[0]!.balance(dbs[0]!, revenue), 5)
    t.match(await ledgers[0]!.check(), { transfers: 31, sumCents: 0, wrongAccounts: [], wrongTransfers: [] })
  },
)

onBoth('a transfer between accounts of the house names whose business it is', async (t, { dbs, ledgers }) => {
  const moved = move(dbs[0]!, ledgers[0]!, transferOf(operator, revenue, 5))
  await t.rejects(moved, { name: 'TypeError', message: /needs accountId/ })
})

onBoth('50 simultaneous transfers with one id move money once', async (t, { dbs, ledgers }) => {
  const transfer = transferOf(operator, user('ann'), 5)
  const results = await race(50, n => move(dbs[n % dbs.length]!, ledgers[n % dbs.length]!, transfer))
  t.equal(results.filter(result => result === 'done').length, 1)
  t.equal(await ledgers[0]!.balance(dbs[0]!, user('ann')), 5)
})

onBoth(
  'accepts exactly as many of 50 simultaneous debits as the balance covers',
  async (t, { dbs, ledgers }) => {
    await move(dbs[0]!, ledgers[0]!, transferOf(operator, user('ann'), 105))
    const results = await race(50, n => {
      // Folding at the same time must neither hide nor repeat money.
      if (n % 10 === 9) return ledgers[n % dbs.length]!.fold(10, fail).then(() => 'folded')
      return move(dbs[n % dbs.length]!, ledgers[n % dbs.length]!, transferOf(user('ann'), revenue, 10))
    })
    t.equal(results.filter(result => result === 'done').length, 10)
    t.equal(await ledgers[0]!.balance(dbs[0]!, user('ann')), 5)
    t.match(await ledgers[0]!.check(), { sumCents: 0, wrongAccounts: [] })
  },
)

onBoth('rolls back with the transaction it is part of', async (t, { dbs, ledgers }) => {
  const [db, ledger] = [dbs[0]!, ledgers[0]!]
  const failing = db.transaction(async tx => {
    await ledger.transfer(tx, transferOf(operator, user('ann'), 500), NOW)
    throw new Error('something else went wrong')
  })
  await t.rejects(failing, /something else/)
  t.match(await ledger.check(), { transfers: 0, sumCents: 0, wrongAccounts: [] })
})

onBoth(
  'the database refuses to change or delete a transfer, and a leg without a valid amount or counterpart',
  async (t, { dbs, ledgers }) => {
    const [db, ledger] = [dbs[0]!, ledgers[0]!]
    await move(db, ledger, transferOf(operator, user('ann'), 500, 'a'))
    await move(db, ledger, transferOf(user('ann'), revenue, 1, 'b'))
    const forged = (side: string, cents: number, counterpart: string = user('ann')): string =>
      `insert into gw_ledger_legs (account_id, transfer_id, side, ledger_account, counterpart, amount_cents, cause, created_at)
      values ('ann', 'forged', '${side}', '${revenue}', '${counterpart}', ${cents}, 'x', 0)`
    // On Postgres, the rights of the role refuse them: test/host/storage/database-role.test.ts.
    const changed = [
      "update gw_ledger_legs set amount_cents = 1 where transfer_id = 'a'",
      "delete from gw_ledger_legs where transfer_id = 'a'",
    ]
    for (const statement of [
      ...(db.dialect === 'sqlite' ? changed : []),
      forged('debit', 5),
      forged('credit', -5),
      forged('debit', 0),
      forged('credit', 0),
      forged('both', 5),
      forged('credit', 5, revenue),
      `update gw_ledger_accounts set balance_cents = -1 where id = '${user('ann')}'`,
    ]) {
      await t.rejects(rows(db, statement), statement)
    }
    t.equal(await ledger.balance(db, user('ann')), 499)
    t.match(await ledger.check(), { transfers: 2, sumCents: 0, wrongAccounts: [] })
    await rows(db, forged('credit', 5))
    t.match(
      await ledger.check(),
      { wrongAccounts: [revenue], wrongTransfers: ['forged'] },
      'a leg without the other',
    )
  },
)

onBoth('a check finds a changed balance', async (t, { dbs, ledgers }) => {
  const [db, ledger] = [dbs[0]!, ledgers[0]!]
  await move(db, ledger, transferOf(operator, user('ann'), 500))
  await rows(db, `update gw_ledger_accounts set balance_cents = 7 where id = '${user('ann')}'`)
  t.match(await ledger.check(), { transfers: 1, sumCents: 7, wrongAccounts: [user('ann')] })
})

onBoth('a check finds an account below zero that must not be', async (t, { dbs, ledgers }) => {
  const [db, ledger] = [dbs[0]!, ledgers[0]!]
  await move(db, ledger, transferOf(operator, user('ann'), 500))
  await move(db, ledger, transferOf(user('ann'), revenue, 500))
  t.match(await ledger.check(), { transfers: 2, sumCents: 0, wrongAccounts: [] }, 'one with nothing is right')
  for (const [side, account, counterpart, cents] of [
    ['debit', user('ann'), revenue, -1],
    ['credit', revenue, user('ann'), 1],
  ] as const) {
    await rows(
      db,
      `insert into gw_ledger_legs (account_id, transfer_id, side, ledger_account, counterpart, amount_cents, cause, created_at)
        values ('ann', 'forged', '${side}', '${account}', '${counterpart}', ${cents}, 'x', 0)`,
    )
    await rows(
      db,
      `insert into gw_ledger_tail (ledger_account, account_id, transfer_id, amount_cents)
        values ('${account}', 'ann', 'forged', ${cents})`,
    )
  }
  t.match(await ledger.check(), { transfers: 3, sumCents: 0, wrongAccounts: [user('ann')] })
})

t.test('postgres: a check reads all at one instant', async t => {
  const { connections, close } = await openKeptPostgres(2, migrateLedger)
  t.teardown(close)
  const [db, other] = connections as [SqlClient, SqlClient]
  await move(db, createLedger(db), transferOf(operator, user('ann'), 500))
  /** Changes a balance after the first statement that reads balances. */
  const interrupted: SqlClient = {
    dialect: db.dialect,
    query: (text, values) => db.query(text, values),
    transaction: work =>
      db.transaction(tx =>
        work({
          dialect: tx.dialect,
          async query(text, values) {
            const reply = await tx.query(text, values)
            if (text.includes('as added'))
              await rows(other, `update gw_ledger_accounts set balance_cents = 7 where id = '${user('ann')}'`)
            return reply
          },
        }),
      ),
  }
  const right = { transfers: 1, sumCents: 0, wrongAccounts: [] }
  t.match(await createLedger(interrupted).check(), right)
  t.match(await createLedger(db).check(), { wrongAccounts: [user('ann')] })
})

t.test('postgres: debits of two users do not wait for each other', async t => {
  const { connections, close } = await openPostgres(2, db => migrateLedger(db))
  t.teardown(close)
  const [db, other] = connections as [SqlClient, SqlClient]
  const ledger = createLedger(db)
  for (const name of ['ann', 'bob', 'cy']) await move(db, ledger, transferOf(operator, user(name), 5))
  await move(db, ledger, transferOf(user('cy'), revenue, 1))
  await rows(other, "set lock_timeout = '2s'")
  const outcome = await db.transaction(async tx => {
    await ledger.transfer(tx, transferOf(user('ann'), revenue, 5), NOW)
    return move(other, createLedger(other), transferOf(user('bob'), revenue, 5))
  })
  t.equal(outcome, 'done')
})

onBoth('balances equal a plain sum after any transfers and folds', async (t, { dbs, ledgers }) => {
  const names = ['ann', 'bob', 'cy']
  const step = fc.oneof(
    fc.record({ kind: fc.constant('fold' as const), by: fc.nat(3) }),
    fc.record({
      kind: fc.constant('move' as const),
      by: fc.nat(3),
      cents: fc.integer({ min: 1, max: 50 }),
      from: fc.constantFrom('outside', ...names),
      to: fc.constantFrom('house', ...names),
    }),
  )
  const property = fc.asyncProperty(fc.array(step, { maxLength: 25 }), async steps => {
    const run = uniqueName()
    const place = (name: string): string =>
      name === 'outside' ? operator : name === 'house' ? revenue : user(`${run}-${name}`)
    const model = new Map<string, number>()
    for (const each of steps) {
      const [db, ledger] = [dbs[each.by % dbs.length]!, ledgers[each.by % dbs.length]!]
      if (each.kind === 'fold') {
        await ledger.fold(2, fail)
        continue
      }
      if (each.from === each.to) continue
      const enough = each.from === 'outside' || (model.get(each.from) ?? 0) >= each.cents
      const transfer = transferOf(place(each.from), place(each.to), each.cents)
      const moved = await move(db, ledger, { ...transfer, accountId: run })
      assert.equal(moved, enough ? 'done' : 'insufficient')
      if (!enough) continue
      model.set(each.from, (model.get(each.from) ?? 0) - each.cents)
      model.set(each.to, (model.get(each.to) ?? 0) + each.cents)
    }
    for (const name of names) {
      assert.equal(await ledgers[0]!.balance(dbs[0]!, place(name)), model.get(name) ?? 0)
    }
  })
  await holds(t, property, { numRuns: randomCases(25) })
  t.match(await ledgers[0]!.check(), { sumCents: 0, wrongAccounts: [] })
})

/** A database that records the texts of the statements of its transactions. */
function withTexts(db: SqlClient, texts: string[]): SqlClient {
  return {
    ...db,
    transaction: (work, options) =>
      db.transaction(
        tx =>
          work({
            ...tx,
            query(text, values) {
              texts.push(text)
              return tx.query(text, values)
            },
            ...(tx.defer && {
              defer(text, values, received) {
                texts.push(text)
                tx.defer?.(text, values, received)
              },
            }),
          }),
        options,
      ),
  }
}

onBoth('opens the account that a user pays to only when it is missing', async (t, { dbs, ledgers }) => {
  const [db, ledger] = [dbs[0]!, ledgers[0]!]
  await move(db, ledger, transferOf(operator, user('ann'), 500))
  for (const credit of [
    user('bob'),
    ledgerAccounts.held('ann', 'cards'),
    ledgerAccounts.contract('ann', '1'),
  ]) {
    const texts: string[] = []
    for (const opened of [1, 1]) {
      t.equal(await move(withTexts(db, texts), ledger, transferOf(user('ann'), credit, 10)), 'done')
      t.equal(texts.filter(text => text.startsWith('insert into gw_ledger_accounts')).length, opened)
    }
    t.equal(await ledger.balance(db, credit), 20)
  }
  t.match(await ledger.check(), { wrongAccounts: [] })
})
