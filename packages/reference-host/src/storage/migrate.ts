import { readFileSync } from 'node:fs'
import { migrate as migrateIdempotency } from '@gatewright/idempotency-store/sqlite'
import { migrate as migrateRoom, readVersions, type SqlClient } from '@gatewright/kernel/sql'
import { migrate as migrateKeys } from '@gatewright/session-issuer/sqlite'
import { migrate as migrateNonces } from '@gatewright/signature-verifier/sqlite'

/** Brings every table the host uses to its newest version. Repeatable. */
export async function migrate(db: SqlClient): Promise<void> {
  const ddl = readFileSync(new URL('../../src/storage/host.sqlite.sql', import.meta.url), 'utf8')
  await migrateNonces(db)
  await migrateKeys(db)
  await migrateIdempotency(db)
  await migrateRoom(db, 'sqlite', { room: 'host', versions: readVersions(ddl) })
}
