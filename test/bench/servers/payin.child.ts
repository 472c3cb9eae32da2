// A host that makes pay-ins, on the stores of its environment; or the same rows by bare node-pg behind node:http.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import pg from 'pg'
import { bearer } from '../../harness/host.ts'
import { startBenchHost } from '../bench-host.ts'
import { extent } from '../extent.ts'
import { listening, serve } from '../serve.ts'

/** Of the pay-ins between two starts, each user makes at most 100: so many may be open. */
const USERS = extent(40, 2)

const [kind = '', env = '{}'] = process.argv.slice(2)
if (kind === 'bare') await bare(JSON.parse(env) as Record<string, string>)
else await host(JSON.parse(env) as Record<string, string>)

async function host(stores: Record<string, string>): Promise<void> {
  const { host, users } = await startBenchHost(stores, USERS)
  const fields = users.map(({ token }) => bearer(token))
  listening(Number(new URL(host.url).port), fields)
}

/** Claim, pay-in, history and response in one transaction with prepared statements: what the host writes, and nothing else. */
async function bare({ DATABASE_URL }: Record<string, string>): Promise<void> {
  const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 })
  const statement = (name: string, text: string) => (client: pg.PoolClient, values: unknown[]) =>
    client.query({ name, text, values })
  const claim = statement(
    'claim',
    `with lock as materialized (select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as got)
      insert into gw_idempotency (account_id, digest, fingerprint, owner, fence, state, until, operation, account, began)
      select 'acc', $1, $2, $3, 1, 'running', cast($4 as bigint), 'subscriptions.payin', 'acc', cast($4 as bigint) from lock where got returning fence`,
  )
  const payin = statement(
    'payin',
    `insert into gw_payins (id, account_id, user_id, effect_id, amount_cents, currency, method, status, moves, properties,
        hold, created_at, expires_at, due_at)
      values ($1, 'acc', 'usr', $2, $3, 'USD', 'onchain', 'awaiting_payment', 1, '{}', '{}', $4, $5, $5) returning *`,
  )
  const move = statement(
    'move',
    `insert into gw_payin_moves (account_id, payin_id, number, from_status, to_status, cause, detail, at)
      values ('acc', $1, 1, null, 'awaiting_payment', 'created', null, $2)`,
  )
  const end = statement(
    'end',
    "update gw_idempotency set state = 'done', response = $1, until = $2 where account_id = 'acc' and digest = $3 and fence = 1",
  )
  const server = createServer((incoming, response) => {
    void (async () => {
      const { amountCents } = (await json(incoming)) as { amountCents: number }
      const [now, id, digest] = [Date.now(), `payin_${randomUUID()}`, randomUUID()]
      const client = await pool.connect()
      await client.query('begin')
      await claim(client, [digest, digest, digest, now + 60_000])
      const { rows } = await payin(client, [id, digest, amountCents, now, now + 86_400_000])
      await move(client, [id, now])
      const reply = JSON.stringify({ ok: true, data: { payin: rows[0] }, summary: '', errors: [] })
      await end(client, [reply, now + 86_400_000, digest])
      await client.query('commit')
      client.release()
      response.setHeader('content-type', 'application/json').end(reply)
    })()
  })
  serve(server)
}
