import { sqlClientContract } from '@gatewright/kernel/testing'
import { runner } from '../../harness/runner.ts'
import { openPostgres, openSqlite } from '../../harness/stores.ts'

sqlClientContract(runner, 'a pool of pg', () => openPostgres(2, async () => {}))
sqlClientContract(runner, 'SQLite', () => openSqlite(1, async () => {}))
