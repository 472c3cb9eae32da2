import Database from 'libsql'
import pg from 'pg'

/**
 * The tables whose rows are copied, and the columns that each copy has of its own, as SQL of the column and the number `n` of the copy. Columns
 * named `position` number the copies themselves.
 */
const TABLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  gw_transactions: { id: 'id', source_id: 'id', created_at: 'time' },
  gw_ledger_legs: { transfer_id: 'id', created_at: 'time' },
  gw_events: { id: 'id', subject_id: 'id', at: 'time' },
  gw_idempotency: { digest: 'id' },
  // An account has a thousand of them.
  gw_requests: { id: 'id', account_id: 'id', at: 'time' },
  gw_spend_counters: { counter: 'id' },
  gw_users: { account_id: 'id', id: 'id', principal: 'id' },
  gw_wallets: { wallet: 'id', address: 'id' },
  // An account has 250 at most.
  gw_keys: { id: 'id', lineage_id: 'id', account: 'id' },
  // What is in their records stays the same, so they are of other accounts.
  gw_sessions: { id: 'id', root_id: 'id', account: 'id' },
  gw_audit: { id: 'id', account: 'id', at: 'time' },
  gw_bills: { id: 'id', created_at: 'time' },
  gw_authorizations: { id: 'id', created_at: 'time' },
  gw_payins: { id: 'id', effect_id: 'id', created_at: 'time' },
  gw_payin_moves: { payin_id: 'id' },
}

/** The balances that the copied transfers add up to, and nothing that waits to be folded. */
const BALANCES = [
  'delete from gw_ledger_tail',
  `update gw_ledger_accounts set balance_cents = (select coalesce(sum(amount_cents), 0) from gw_ledger_legs l
    where l.ledger_account = gw_ledger_accounts.id)`,
]

/** The indexes of the copied tables that no constraint needs. */
const PLAIN_INDEXES = `select i.indexrelid::regclass as name, pg_get_indexdef(i.indexrelid) as definition
  from pg_index i left join pg_constraint c on c.conindid = i.indexrelid
  where c.oid is null and i.indrelid in (${Object.keys(TABLES)
    .map(table => `'${table}'::regclass`)
    .join(', ')})`

/** Runs statements on a database whose host is stopped. */
interface Statements {
  readonly dialect: 'postgres' | 'sqlite'
  rows(text: string): Promise<Record<string, unknown>[]>
  close(): Promise<void>
}

async function openStatements(database: string): Promise<Statements> {
  if (!database.startsWith('postgres')) {
    const db = new Database(database)
    return {
      dialect: 'sqlite',
      async rows(text) {
        const statement = db.prepare(text)
        if (statement.reader) return statement.all() as Record<string, unknown>[]
        statement.run()
        return []
      },
      close: async () => void db.close(),
    }
  }
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  // Checks of other tables would take minutes.
  await client.query('set session_replication_role = replica')
  await client.query("set maintenance_work_mem = '512MB'; set work_mem = '256MB'")
  return {
    dialect: 'postgres',
    rows: async text => (await client.query<Record<string, unknown>>(text)).rows,
    close: () => client.end(),
  }
}

/**
 * Copies the rows of a database until its largest table has about so many, and returns how many each has: a Postgres URL or an SQLite file. Each table is copied equally often,
 * so that transfers, balances and transactions agree.
 */
export async function copyRows(database: string, most: number): Promise<Readonly<Record<string, number>>> {
  const db = await openStatements(database)
  const count = async (table: string): Promise<number> =>
    Number((await db.rows(`select count(*) as n from ${table}`))[0]?.['n'])
  const columnsOf = async (table: string): Promise<string[]> => {
    const text =
      db.dialect === 'postgres'
        ? `select attname as name from pg_attribute where attrelid = '${table}'::regclass and attnum > 0 and not attisdropped`
        : `select name from pragma_table_info('${table}')`
    return (await db.rows(text)).map(row => String(row['name'])).filter(name => name !== 'position')
  }
  const counts: Record<string, number> = {}
  for (const table of Object.keys(TABLES)) counts[table] = await count(table)
  const copies = Math.floor(most / Math.max(...Object.values(counts))) - 1
  const numbers =
    db.dialect === 'postgres'
      ? `generate_series(1, ${copies}) n`
      : `(with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${copies}) select n from numbers) numbers`
  // An index of all rows is made faster than one that grows with each of them.
  const indexes = db.dialect === 'postgres' ? await db.rows(PLAIN_INDEXES) : []
  for (const { name } of indexes) await db.rows(`drop index ${String(name)}`)
  for (const [table, own] of Object.entries(TABLES)) {
    const columns = await columnsOf(table)
    const values = columns.map(column => {
      if (own[column] === 'id') return `${column} || '_' || n`
      return own[column] === 'time' ? `${column} - n` : column
    })
    await db.rows(
      `insert into ${table} (${columns.join(', ')}) select ${values.join(', ')} from ${table}, ${numbers} order by n`,
    )
    counts[table] = await count(table)
  }
  for (const { definition } of indexes) await db.rows(String(definition))
  for (const text of BALANCES) await db.rows(text)
  if (db.dialect === 'postgres') await db.rows('vacuum analyze')
  await db.close()
  return counts
}
