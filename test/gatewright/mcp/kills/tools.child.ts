// A server of guarded tools that kills itself at one statement of its requests, or around the request to its processor.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { fromPgPool, fromSqlite, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { manualClock } from '@gatewright/kernel/testing'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import { postgresIdempotency } from '@gatewright/idempotency-store/postgres'
import { sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { localKeys } from '@gatewright/scope-guard'
import { postgresSpends } from '@gatewright/scope-guard/postgres'
import { sqliteSpends } from '@gatewright/scope-guard/sqlite'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import type { Store } from 'gatewright'
import { gatewright, type FetchOptions } from 'gatewright/fetch'
import { mcp } from 'gatewright/mcp'
import { postgresStore } from 'gatewright/postgres'
import { redisStore } from 'gatewright/redis'
import { sqliteStore } from 'gatewright/sqlite'
import Database from 'libsql'
import pg from 'pg'
import { createClient } from 'redis'
import { at, obey, type Message, type Order } from '../../../harness/databases/statement-kills.ts'
import { AUDIENCE, ISSUER } from '../../../scope-guard/issuer.ts'
import { recoverBy } from '../../kills/processor.ts'
import { payment } from '../shop.ts'

const env = process.env as Record<'PROCESSOR' | 'JWK' | 'NOW' | 'CAP' | 'LEASE_MS', string> &
  NodeJS.ProcessEnv
const clock = manualClock(Number(env.NOW))
const { POSTGRES_URL, SCHEMA, SQLITE_FILE, REDIS_URL, REDIS_PREFIX } = env

/** Asks the processor for a payment. */
async function pay(amountCents: number, effectId: string): Promise<void> {
  at('before', 'the processor')
  const request = fetch(`${env.PROCESSOR}/${effectId}`, { method: 'POST', body: `${amountCents}` })
  at('during', 'the processor')
  await request
  at('after', 'the processor')
}

/** The result of a payment, which is also that of a lost run. */
const paid = (effectId: string) => ({ content: [{ type: 'text' as const, text: `paid ${effectId}` }] })

/** The store of the environment, and how its database takes part in a transaction. */
interface Place {
  readonly store: Store
  readonly gate?: FetchOptions['gate']
}

function transacted(db: SqlClient, isPostgres: boolean): NonNullable<FetchOptions['gate']> {
  const storage = isPostgres ? postgresIdempotency : sqliteIdempotency
  const spends = isPostgres ? postgresSpends : sqliteSpends
  return {
    transactions: createTransactionalIdempotency({ db, storage: tx => storage(tx), clock }),
    spendStorage: (tx: unknown) => spends(tx as SqlQueries),
  }
}

async function openPlace(): Promise<Place> {
  if (REDIS_URL) {
    const client = createClient({ url: REDIS_URL, disableOfflineQueue: true })
    await client.connect()
    const send = client.sendCommand.bind(client)
    client.sendCommand = (async (...[args, ...rest]: Parameters<typeof send>) => {
      at('before', String(args[0]))
      const reply = send(args, ...rest)
      at('during', String(args[0]))
      const value = await reply
      at('after', String(args[0]))
      return value
    }) as typeof client.sendCommand
    return { store: redisStore(client, { prefix: REDIS_PREFIX as string }) }
  }
  if (POSTGRES_URL) {
    const options = `-c search_path=${SCHEMA}`
    const pool = new pg.Pool({ connectionString: POSTGRES_URL, max: 4, options })
    return { store: postgresStore(pool), gate: transacted(fromPgPool(pool), true) }
  }
  const database = new Database(SQLITE_FILE as string)
  return { store: sqliteStore(database), gate: transacted(fromSqlite(database), false) }
}

const { store, gate } = await openPlace()
const gw = gatewright({
  issuer: ISSUER,
  audience: AUDIENCE,
  provider: 'auth0',
  policy: { dailySpendCapCents: Number(env.CAP) },
  store,
  clock,
  peer: 'none',
  limits: [],
  guard: { keys: localKeys({ keys: [JSON.parse(env.JWK)] }) },
  // Nothing of a dead process ends, so waiting for it would only take time here.
  idempotency: {
    waitMs: 0,
    leaseMs: Number(env.LEASE_MS),
    recover: recoverBy(env.PROCESSOR, effectId => paid(effectId)),
  },
  ...(gate ? { gate } : {}),
})
const tools = mcp(gw, { peer: 'none' })
const intent = { args: ['orderId'] }

const guarded = tools.handle(() => {
  const server = new McpServer({ name: 'shop', version: '1.0.0' })
  tools.guardTool(
    server,
    'payments.create',
    {
      scope: 'payments.write',
      intent,
      spends: ({ amountCents }) => ({ amountCents, currency: 'USD' }),
    },
    { description: 'Pays an order.', inputSchema: payment },
    async ({ args, effectId }) => {
      await pay(args.amountCents, effectId)
      return paid(effectId)
    },
  )
  if (gate)
    tools.guardTool(
      server,
      'rows.create',
      { scope: 'payments.write', intent, transaction: true, spends: 'spend' },
      { description: 'Writes a row that pays an order.', inputSchema: payment },
      async ({ args, effectId, tx, session, reserve }) => {
        const held = await reserve({ amountCents: args.amountCents, currency: 'USD' })
        if (!held.ok) return held
        await (tx as SqlQueries).query('insert into paid (id, account, cents) values ($1, $2, $3)', [
          effectId,
          session.accountId,
          args.amountCents,
        ])
        return { content: [{ type: 'text', text: `wrote ${effectId}` }] }
      },
    )
  return server
})

/** The same tool with the SDK alone. */
const alone = createMcpHandler(() => {
  const server = new McpServer({ name: 'shop', version: '1.0.0' })
  server.registerTool(
    'payments.create',
    { description: 'Pays an order.', inputSchema: payment },
    async ({ orderId = '', amountCents }) => {
      await pay(amountCents, orderId)
      return { content: [{ type: 'text', text: `paid ${orderId}` }] }
    },
  )
  return server
}).fetch

process.on('message', (order: Order) => {
  const statements = obey(order)
  clock.set(order.now)
  process.send?.({ statements } satisfies Message)
})
process.on('disconnect', () => process.exit())
const server = createServer(
  getRequestListener(request =>
    new URL(request.url).pathname === '/alone' ? alone(request) : guarded(request, undefined),
  ),
).listen(0, '127.0.0.1')
await once(server, 'listening')
process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } satisfies Message)
