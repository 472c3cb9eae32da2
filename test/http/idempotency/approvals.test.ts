import { randomUUID } from 'node:crypto'
import { scopeCatalogue } from '@gatewright/kernel'
import { race } from '@gatewright/kernel/testing'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { gate, type HandlerResponse } from '@gatewright/http'
import { fetchGate } from '@gatewright/http/fetch'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import * as postgres from '@gatewright/idempotency-store/postgres'
import { migrateIdempotency, sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { postgresApprovals, postgresSpends } from '@gatewright/scope-guard/postgres'
import { migrateSpends, sqliteApprovals, sqliteSpends } from '@gatewright/scope-guard/sqlite'
import t from 'tap'
import { openKeptPostgres } from '../../harness/databases/kept-postgres.ts'
import { openSqlite } from '../../harness/stores.ts'
import { bench } from '../../scope-guard/issuer.ts'

const scopes = scopeCatalogue(['payments.write'])
const rule = { operation: 'payments.create', allOf: ['payments.write'], spends: 'spend' } as const

const STORES = {
  SQLite: {
    open: (migrate: (db: SqlClient) => Promise<void>) => openSqlite(1, migrate),
    idempotency: sqliteIdempotency,
    spends: sqliteSpends,
    approvals: sqliteApprovals,
  },
  Postgres: {
    open: (migrate: (db: SqlClient) => Promise<void>) => openKeptPostgres(4, migrate),
    idempotency: postgres.postgresTransactionalIdempotency,
    spends: postgresSpends,
    approvals: postgresApprovals,
  },
} as const

async function migrated(db: SqlClient): Promise<void> {
  await migrateIdempotency(db)
  await migrateSpends(db)
  await db.query('create table payments (id text primary key, cents integer not null)')
}

for (const [name, store] of Object.entries(STORES)) {
  /** Gates over connections of their own, under a threshold of 50 and a cap of 100 a day. */
  const setUp = async (t: { teardown(end: () => unknown): void }) => {
    const { connections, close } = await store.open(migrated)
    t.teardown(close)
    const [db] = connections as readonly [SqlClient]
    const { guard, bearer, clock } = await bench({
      policies: async ids => ids.map(() => ({ approveAboveCents: 50, dailySpendCapCents: 100 })),
      spend: store.spends(db),
      approvals: { store: store.approvals(db), url: ({ id }) => `https://pay.test/${id}` },
    })
    const serve = connections.map(connection => {
      const api = gate({
        guard,
        scopes,
        report: ({ error }) => t.teardown(() => Promise.reject(error)),
        transactions: createTransactionalIdempotency({ db: connection, storage: store.idempotency, clock }),
        spendStorage: tx => store.spends(tx),
        approvalStorage: tx => store.approvals(tx),
      })
      const route = api.transactional(
        rule,
        async ({ json }, { tx, effectId, reserve, abandon }): Promise<HandlerResponse> => {
          const body = json()
          if (!body.ok) return body
          const { amountCents, ending } = body.value
          const held = await reserve({
            amountCents: amountCents as number,
            currency: 'USD',
            payee: 'account:a',
          })
          if (!held.ok) return ending === 'abandon' ? abandon(held) : held
          await tx.query('insert into payments (id, cents) values ($1, $2)', [effectId, Number(amountCents)])
          if (ending === 'deny') return { ok: false, code: 'declined', status: 422, message: 'declined' }
          return { status: 201, body: { amountCents } }
        },
      )
      return fetchGate(api, { body: 'stream', peer: 'none' }).handle(route)
    })
    const pay = async (body: object, key: string = randomUUID(), at = 0) => {
      const headers = {
        authorization: await bearer({ scopes: ['payments.write'], policyIds: ['pol_1'] }),
        'content-type': 'application/json',
        'idempotency-key': key,
      }
      const request = new Request('http://api.test/p', {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
      const response = await serve[at % serve.length]!(request, undefined)
      const text = (await response.json()) as Record<string, unknown>
      const replayed = response.headers.get('idempotency-replayed') === 'true'
      return { status: response.status, body: text, replayed }
    }
    const paid = async (): Promise<number> => {
      const [row] = await rows(db, 'select coalesce(sum(cents), 0) as cents from payments')
      return Number(row?.['cents'])
    }
    const { approvals } = guard
    if (!approvals) throw new Error('the guard has approvals')
    return { pay, paid, approvals, clock }
  }

  void t.test(
    `${name}: a payment above the threshold waits, and is made once when it is approved`,
    async t => {
      const { pay, paid, approvals } = await setUp(t)
      const asked = await pay({ amountCents: 60 }, 'key-00000001')
      const id = String(asked.body['approvalId'])
      t.match(asked, {
        status: 403,
        body: {
          error: 'approval_required',
          rule: 'approveAboveCents',
          approveUrl: `https://pay.test/${id}`,
          operation: 'payments.create',
          payee: ['account:a'],
          amountCents: 60,
          currency: 'USD',
          expiresAt: String,
        },
      })
      t.match(await pay({ amountCents: 60 }, '"key-00000001"'), { body: { approvalId: id } }, 'the same key')
      t.match(await pay({ amountCents: 60, ending: 'abandon' }), { body: { approveUrl: String } })
      t.equal((await approvals.list('acc_1')).length, 2)
      t.match(await pay({ amountCents: 50 }), { status: 201 }, 'nothing is reserved, and others pay')
      await approvals.approve('acc_1', id, 'owner')
      t.match(
        await pay({ amountCents: 60 }, 'key-00000001'),
        {
          status: 403,
          body: { error: 'policy_blocked', rule: 'dailySpendCapCents' },
        },
        'the caps are checked again',
      )
      t.equal(await paid(), 50)
    },
  )

  void t.test(
    `${name}: of simultaneous repeats one uses the approval, and the others get its response`,
    async t => {
      const { pay, paid, approvals } = await setUp(t)
      const { body } = await pay({ amountCents: 60 }, 'key-00000001')
      await approvals.approve('acc_1', String(body['approvalId']), 'owner')
      const results = await race(8, index => pay({ amountCents: 60 }, 'key-00000001', index))
      for (const result of results.filter(({ status }) => status !== 429)) t.equal(result.status, 201)
      t.equal(results.filter(({ status, replayed }) => status === 201 && !replayed).length, 1)
      t.equal(await paid(), 60)
      t.match(await pay({ amountCents: 60 }), { status: 403, body: { rule: 'dailySpendCapCents' } })
    },
  )

  void t.test(`${name}: a payment that is denied after its approval does not use it up`, async t => {
    const { pay, paid, approvals } = await setUp(t)
    const payment = { amountCents: 60, ending: 'deny' }
    const { body } = await pay(payment, 'key-00000001')
    await approvals.approve('acc_1', String(body['approvalId']), 'owner')
    t.match(await pay(payment, 'key-00000001'), { status: 422 })
    t.match(await approvals.list('acc_1'), [{ state: 'approved' }], 'rolled back with the payment')
    t.match(await pay(payment, 'key-00000001'), { status: 422 })
    t.equal(await paid(), 0)
  })

  void t.test(`${name}: approvals let exactly what the cap has room for be paid, and each once`, async t => {
    const { pay, paid, approvals } = await setUp(t)
    const keys = Array.from({ length: 6 }, () => randomUUID())
    for (const [at, key] of keys.entries()) {
      const { body } = await pay({ amountCents: 51 + at }, key)
      await approvals.approve('acc_1', String(body['approvalId']), 'owner')
    }
    const results = await race(24, index => pay({ amountCents: 51 + (index % 6) }, keys[index % 6], index))
    const made = results.filter(({ status, replayed }) => status === 201 && !replayed)
    t.equal(made.length, 1, 'two of them exceed the cap')
    t.ok((await paid()) <= 100)
  })

  void t.test(`${name}: the owner denies, and the repeat is denied with that reason`, async t => {
    const { pay, approvals, clock } = await setUp(t)
    const { body } = await pay({ amountCents: 60 }, 'key-00000001')
    await approvals.deny('acc_1', String(body['approvalId']), 'owner')
    t.match(await pay({ amountCents: 60 }, 'key-00000001'), {
      status: 403,
      body: { error: 'approval_denied' },
    })
    clock.advance(3_600_000)
    t.match(await pay({ amountCents: 60 }, 'key-00000001'), {
      body: { error: 'approval_required', approvalId: body['approvalId'] },
    })
  })
}

t.test(
  'a gate whose guard has approvals needs their storage in transactions, and none otherwise',
  async t => {
    const { connections, close } = await openSqlite(1, migrated)
    t.teardown(close)
    const [db] = connections as readonly [SqlClient]
    const transactions = createTransactionalIdempotency({ db, storage: tx => sqliteIdempotency(tx) })
    const approvals = { store: sqliteApprovals(db), url: () => 'https://pay.test' }
    const common = { scopes, transactions, spendStorage: () => sqliteSpends(db) }
    const spend = sqliteSpends(db)
    const { guard } = await bench({ spend, approvals })
    const declare = (options: object) => () =>
      gate({ ...common, ...options }).transactional(rule, () => ({ status: 201 }))
    t.throws(declare({ guard }), /needs the option approvals and the gate approvalStorage/)
    const { guard: plain } = await bench({ spend })
    t.throws(declare({ guard: plain, approvalStorage: () => sqliteApprovals(db) }), TypeError)
    declare({ guard, approvalStorage: () => sqliteApprovals(db) })()
    declare({ guard: plain })()
  },
)
