import Database from 'libsql'
import pg from 'pg'

/** An instant of a year ago and more. */
const OLD = 'cast(extract(epoch from now()) as bigint) * 1000 - 43200000000'

/** Adds so many records of idempotency keys, requests and events that a host deletes: to the Postgres of a URL, or an SQLite file. */
export async function addBacklog(database: string, count: number): Promise<void> {
  const isPostgres = database.startsWith('postgres')
  const series = isPostgres
    ? `generate_series(1, ${count}) n`
    : `(with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${count}) select n from numbers) numbers`
  const old = isPostgres ? OLD : String(Date.now() - 43_200_000_000)
  const statements = [
    `insert into gw_idempotency (account_id, digest, fingerprint, owner, fence, state, until, operation, account, began, response)
      select 'acc_old', 'digest_' || n, '', '', 0, 'done', ${old} + n, 'payments.create', 'acc_old', 0, '{}' from ${series}`,
    `insert into gw_requests (account_id, at, id, method, operation, status, replayed, duration_us)
      select 'acc_old_' || n % 100, ${old} + n, 'request_' || n, 'POST', 'payments.create', 200, 0, 1 from ${series}`,
    `insert into gw_events (id, account_id, subject_kind, subject_id, number, cause, at, kept)
      select 'event_' || n, 'acc_old_' || n % 100, 'payment', 'pay_' || n, 1, 'received', ${old} + n, 0 from ${series}`,
  ]
  if (isPostgres) {
    const client = new pg.Client({ connectionString: database })
    await client.connect()
    for (const text of statements) await client.query(text)
    return client.end()
  }
  const db = new Database(database)
  db.exec('pragma busy_timeout = 30000')
  for (const text of statements) db.exec(text)
  db.close()
}
