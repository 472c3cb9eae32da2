// Checks the ledger in a separate process: SQLite is synchronous and would block the host meanwhile, and a check on Postgres
// would need a connection of the host's pool. The parent sends the database's location in a message, so that the list of
// processes shows no URL.
import { fromPgPool, fromSqlite, type SqlClient } from '@gatewright/kernel/sql'
import { checkLedger } from '@gatewright/host/internal'
import { heldMoney } from '../product/held-money.ts'
import type { CheckedDatabase, LedgerFindings } from './ledger-check.ts'

async function findingsOf(target: CheckedDatabase): Promise<LedgerFindings> {
  if ('url' in target) {
    const { Pool } = (await import('pg')).default
    const { url, statementMs } = target
    const pool = new Pool({ connectionString: url, max: 1, statement_timeout: statementMs })
    const db = fromPgPool(pool)
    return checkLedger(db, heldMoney, { statementMs })
  }
  const db = await openEmbedded(target.path)
  return checkLedger(db, heldMoney)
}

/** Opens the embedded database beside the host that writes to it. */
async function openEmbedded(path: string): Promise<SqlClient> {
  const { default: Database } = await import('libsql')
  const database = new Database(path)
  database.exec('pragma query_only = on; pragma busy_timeout = 1000')
  return fromSqlite({
    prepare: text => database.prepare(text),
    // `begin immediate` would take the lock of the writer, which the host needs. This process only reads.
    exec: text => database.exec(text === 'begin immediate' ? 'begin' : text),
  })
}

process.once('message', (target: CheckedDatabase) => {
  void findingsOf(target).then(findings => process.send?.(findings, () => process.exit(0)))
})
