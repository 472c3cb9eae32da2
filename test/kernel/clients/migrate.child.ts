// Migrates the SQLite file of its first argument to the versions in the others.
import { fromSqlite, migrate } from '@gatewright/kernel/sql'
import Database from 'libsql'

const [file = '', ...versions] = process.argv.slice(2)
const database = new Database(file)
database.exec('pragma busy_timeout = 10000; pragma journal_mode = wal')
await migrate(fromSqlite(database), 'sqlite', { namespace: 'notes', versions })
database.close()
