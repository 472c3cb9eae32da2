// A Hono app with one financial write. Its record and its rows share one SQLite database, so a pay-in happens
// exactly once, however often and however simultaneously it is sent.
import { recordHeaderNames, recordHeaders, type StoredResponse } from '@gatewright/idempotency-store'
import { createTransactionalIdempotency, type RunContext } from '@gatewright/idempotency-store/transactional'
import { migrateIdempotency, sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { Fault } from '@gatewright/kernel'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { Hono } from 'hono'

/** What a pay-in does in its transaction. */
export type PayIn = (
  tx: SqlQueries,
  run: RunContext,
  account: string,
  body: string,
) => Promise<StoredResponse>

const json = (status: number, value: unknown): StoredResponse => ({
  status,
  headers: [['Content-Type', 'application/json']],
  body: JSON.stringify(value),
})

/** Credits the account. An amount that is wrong is a 400, which frees the key again. */
export const payIn: PayIn = async (tx, { effectId }, account, body) => {
  const amountCents: unknown = JSON.parse(body)?.amountCents
  if (!Number.isSafeInteger(amountCents) || (amountCents as number) < 1) {
    return json(400, { error: 'invalid_request', message: 'amountCents must be a positive integer' })
  }
  await rows(tx, 'insert into payins (id, account, amount_cents) values ($1, $2, $3)', [
    effectId,
    account,
    amountCents as number,
  ])
  return json(201, { id: effectId, amountCents })
}

/** Creates the tables. */
export async function setUp(db: SqlClient): Promise<void> {
  await migrateIdempotency(db)
  await rows(
    db,
    'create table if not exists payins (id text primary key, account text not null, amount_cents integer not null)',
  )
}

/** The app, and what to wait for before the process ends. */
export function createApp(db: SqlClient, pay: PayIn = payIn): { app: Hono; drained(): Promise<number> } {
  const idempotency = createTransactionalIdempotency({ db, storage: tx => sqliteIdempotency(tx) })
  const app = new Hono()

  app.use(async (c, next) => {
    await next()
    c.header('Access-Control-Expose-Headers', recordHeaderNames.join(', '))
  })

  app.post('/payins', async c => {
    // Authenticate here, before the record is looked at: a replay is a response too.
    const account = c.req.header('x-account') ?? 'demo'
    const body = new Uint8Array(await c.req.arrayBuffer())
    const facts = {
      account,
      operation: 'payins.create',
      key: c.req.header('idempotency-key'),
      method: 'POST',
      body,
    }
    const result = await idempotency.run(facts, (tx, run) =>
      pay(tx, run, account, Buffer.from(body).toString()),
    )
    if (!result.ok) {
      const { code, status, message, retryAfterSeconds } = result
      const headers: Record<string, string> =
        retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }
      return c.json({ error: code, message }, { status: status as 400, headers })
    }
    const { response } = result.value
    const headers = Object.fromEntries([...response.headers, ...recordHeaders(result.value)])
    return new Response(response.body, { status: response.status, headers })
  })

  app.onError((error, c) => {
    // A broken store says nothing about the pay-in: the client sends the request again with the same key.
    if (!(error instanceof Fault)) return c.json({ error: 'internal_error' }, 500)
    return c.json({ error: 'service_unavailable' }, 503, { 'Retry-After': String(error.retryAfterSeconds) })
  })
  return { app, drained: () => idempotency.drained() }
}
