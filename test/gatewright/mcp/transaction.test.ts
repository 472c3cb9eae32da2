// Tools with `transaction: true`: record, spend and rows commit together. The slow suite kills their host, on SQLite and Postgres.
import { fromPgPool, fromSqlite, rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import { postgresIdempotency } from '@gatewright/idempotency-store/postgres'
import { sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { postgresSpends } from '@gatewright/scope-guard/postgres'
import { sqliteSpends } from '@gatewright/scope-guard/sqlite'
import { McpServer } from '@modelcontextprotocol/server'
import type { Store } from 'gatewright'
import { gatewright } from 'gatewright/fetch'
import { mcp } from 'gatewright/mcp'
import { postgresStore } from 'gatewright/postgres'
import { sqliteStore } from 'gatewright/sqlite'
import Database from 'libsql'
import t, { type Test } from 'tap'
import { openPostgresPool, uniqueName } from '../../harness/stores.ts'
import { CAP, createWorld } from '../world.ts'
import { answerOf, callOf, denialOf, payment } from './shop.ts'

interface Opened {
  readonly db: SqlClient
  readonly store: Store
  readonly idempotency: typeof sqliteIdempotency
  readonly spends: typeof sqliteSpends
}

const DATABASES: Readonly<Record<string, (t: Test) => Promise<Opened>>> = {
  async SQLite() {
    const database = new Database(':memory:')
    const store = sqliteStore(database)
    return { db: fromSqlite(database), store, idempotency: sqliteIdempotency, spends: sqliteSpends }
  },
  async Postgres(t) {
    const schema = uniqueName()
    const pool = await openPostgresPool(schema, 4)
    t.teardown(async () => {
      await pool.query(`drop schema ${schema} cascade`)
      await pool.end()
    })
    const store = postgresStore(pool)
    return { db: fromPgPool(pool), store, idempotency: postgresIdempotency, spends: postgresSpends }
  },
}

/** How a handler ends after it has written its row. */
type Ending = 'commits' | 'denies' | 'throws' | 'abandons'

async function setUp(t: Test, open: (typeof DATABASES)[string]) {
  const { db, store, idempotency, spends } = await open(t)
  await store.migrate?.()
  await db.query('create table paid (id varchar(100) primary key, cents integer not null)', [])
  const world = createWorld(store)
  const { clock } = world.options
  const gw = gatewright({
    ...world.options,
    limits: [],
    peer: 'none',
    gate: {
      hint: false,
      report: () => {},
      transactions: createTransactionalIdempotency({ db, storage: tx => idempotency(tx), clock }),
      spendStorage: (tx: unknown) => spends(tx as SqlQueries),
    },
  })
  const tools = mcp(gw, { peer: 'none' })
  let ending: Ending = 'commits'
  const handle = tools.handle(() => {
    const server = new McpServer({ name: 'shop', version: '1.0.0' })
    tools.guardTool(
      server,
      'rows.create',
      { scope: 'payments.write', intent: { args: ['orderId'] }, transaction: true, spends: 'spend' },
      { description: 'Writes a row that pays an order.', inputSchema: payment },
      async ({ args, tx, effectId, reserve, abandon }) => {
        const held = await reserve({ amountCents: args.amountCents, currency: 'USD' })
        if (!held.ok) return held
        await (tx as SqlQueries).query('insert into paid (id, cents) values ($1, $2)', [
          effectId,
          args.amountCents,
        ])
        const denial = { ok: false, code: 'declined', status: 402, message: 'declined' } as const
        if (ending === 'denies') return denial
        if (ending === 'abandons') return abandon(denial)
        if (ending === 'throws') throw new Error('the handler is broken')
        return { content: [{ type: 'text', text: `wrote ${effectId}` }] }
      },
    )
    return server
  })
  const token = await world.token('payments.write')
  let id = 0
  return {
    async call(orderId: string, amountCents: number, by: Ending = 'commits') {
      ending = by
      const call = callOf('rows.create', { orderId, amountCents }, { token, id: ++id })
      return answerOf(await handle(call, undefined))
    },
    /** The cents of the rows that were committed. */
    paid: async () => (await rows(db, 'select cents from paid order by id', [])).map(row => row['cents']),
  }
}

for (const [name, open] of Object.entries(DATABASES)) {
  t.test(`${name}: record, spend and row of a tool commit together, once for each intent`, async t => {
    const { call, paid } = await setUp(t, open)
    const first = await call('order-1', 4000)
    t.match(first.result?.content[0]?.text, /^wrote /)
    t.same((await call('order-1', 4000)).result, first.result)
    t.same(await paid(), [4000])
    t.match(denialOf(await call('order-2', CAP - 4000 + 1)), {
      error: 'policy_blocked',
      remaining: CAP - 4000,
    })
    await call('order-2', CAP - 4000)
    t.equal((await paid()).length, 2)
  })

  for (const by of ['denies', 'throws', 'abandons'] as const)
    t.test(`${name}: a handler that ${by} leaves no row, no spend and no record`, async t => {
      const { call, paid } = await setUp(t, open)
      const failed = await call('order-1', CAP, by)
      t.equal(failed.result?.isError, true)
      t.same(await paid(), [])
      t.match((await call('order-1', CAP)).result?.content[0]?.text, /^wrote /, 'the same intent runs again')
      t.same(await paid(), [CAP])
    })

  t.test(`${name}: 20 calls of one intent at once write one row`, async t => {
    const { call, paid } = await setUp(t, open)
    const answers = await Promise.all(Array.from({ length: 20 }, async () => call('order-1', 100)))
    t.same(await paid(), [100])
    t.ok(answers.some(({ result }) => result?.content[0]?.text.startsWith('wrote ')))
    t.match((await call('order-1', 100)).result?.content[0]?.text, /^wrote /)
    t.same(await paid(), [100])
  })
}
