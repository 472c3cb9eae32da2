// Migrates the SQLite file of its first argument to the versions of the DDL in the second.
import { fromSqlite, migrate } from '@gatewright/kernel/sql'
import Database from 'libsql'

const [file = '', ddl = ''] = process.argv.slice(2)
const database = new Database(file)
database.exec('pragma busy_timeout = 10000; pragma journal_mode = wal')
await migrate(fromSqlite(database), { namespace: 'notes', ddl })
database.close()
