// Runs the server: DATABASE_URL, ISSUER and PARTNER_KEY from the environment. Creates its tables.
import { migrateIdempotency } from '@gatewright/idempotency-store/postgres'
import { fromPgPool } from '@gatewright/kernel/sql'
import pg from 'pg'
import { payments } from './app.ts'

const { DATABASE_URL, ISSUER, PARTNER_KEY, PORT = '3000' } = process.env
if (!DATABASE_URL || !ISSUER || !PARTNER_KEY) {
  console.error('Set DATABASE_URL, ISSUER and PARTNER_KEY: see examples/payments/README.md')
  process.exit(1)
}
const pool = new pg.Pool({ connectionString: DATABASE_URL })
pool.on('error', error => console.error('postgres', error))
const db = fromPgPool(pool)
await migrateIdempotency(db)
await db.query(
  'create table if not exists payments (id text primary key, account text not null, cents bigint not null)',
)
const print = (...words: unknown[]): void => console.log(...words)
payments(db, ISSUER, PARTNER_KEY, print).listen(Number(PORT), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${PORT}`)
})
