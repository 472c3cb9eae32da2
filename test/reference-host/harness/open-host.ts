import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import type { SqlDialect } from '@gatewright/kernel/internal/sql'
import { createLedger } from '#packages/host/dist/ledger/ledger.js'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { keptHostStoresEnv } from '../../harness/host-stores.ts'
import { startTestHost, type TestHost } from '../../harness/host.ts'
import * as internals from '../../harness/internals.ts'

/** A test host, and its database past the host. */
export interface OpenHost {
  readonly host: TestHost
  readonly db: SqlClient
  readonly dialect: SqlDialect
  /** Everything that `ledger check` finds wrong. */
  wrongSums(): Promise<readonly unknown[]>
  close(): Promise<void>
}

/** Starts a host on the stores that `TEST_HOST_STORES` names. */
export async function startOpenHost(clock?: Clock, given: Record<string, string> = {}): Promise<OpenHost> {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-open-'))
  const stores = await keptHostStoresEnv()
  const env = { ...stores.env, DATA_DIR: folder, RATE_LIMITS: 'off', ...given }
  const host = await startTestHost(env, clock)
  const { db, close } = openDatabaseOf(env)
  const dialect = 'DATABASE_URL' in env ? 'postgres' : 'sqlite'
  return {
    host,
    db,
    dialect,
    async wrongSums() {
      const { sumCents, wrongAccounts, wrongTransfers } = await createLedger(db).check()
      const differences = await internals.accountsThatDiffer(db, internals.heldMoney)
      return [
        ...(sumCents === 0 ? [] : [`the sum is ${sumCents}`]),
        ...wrongAccounts,
        ...wrongTransfers,
        ...differences,
      ]
    },
    async close() {
      await close()
      await host.close()
      await stores.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
