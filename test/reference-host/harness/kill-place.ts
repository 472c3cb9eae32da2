import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromPgPool, fromSqlite, type SqlClient } from '@gatewright/kernel/sql'
import Database from 'libsql'
import pg from 'pg'
import { hostStoresEnv } from '../../harness/host-stores.ts'
import type { HttpResponse } from '../../harness/host.ts'
import { stepsOf } from '../../harness/turns.ts'

/** Stores that outlive the hosts of a test. */
export interface Place {
  readonly env: Readonly<Record<string, string>>
  /** Opens the database once no host uses it any more. */
  open(): SqlClient
  /** What this check finds in what a killed host left behind. The next host recovers it itself. */
  audit(check: Check): Promise<readonly string[]>
  close(): Promise<void>
}
type Check = (db: SqlClient) => Promise<readonly string[]>

/**
 * Before every how-many-th statement a run kills a host, by turns: each kill costs the start of a host, and the places between two
 * commits are alike, above all on SQLite, where the host is the database.
 */
const KILL_EVERY = { postgres: 8, sqlite: 16 } as const

/** The statements before which this run kills a host: the `first`, counted from 1, and every `every`-th after it. */
export function killsBefore(store: 'postgres' | 'sqlite'): {
  readonly first: number
  readonly every: number
  /** How many of so many statements those are. */
  among(statements: readonly string[]): number
} {
  const { first, every } = stepsOf(KILL_EVERY[store])
  return {
    first: first + 1,
    every,
    among: ({ length }) => Math.max(0, Math.ceil((length - first) / every)),
  }
}

/**
 * The statements during which this run kills a host on Postgres, counted from 1: those that may be committed without anybody knowing.
 * Plain reads among them take turns.
 */
export function killsDuring(statements: readonly string[]): number[] {
  const { first, every } = stepsOf(KILL_EVERY.postgres)
  return outsideTransactions(statements).filter(
    (at, index) => !statements[at - 1]?.startsWith('select') || index % every === first,
  )
}

/** Makes fresh stores. */
export async function freshPlace(store: 'postgres' | 'sqlite'): Promise<Place> {
  if (store === 'sqlite') {
    const dataDir = mkdtempSync(join(tmpdir(), 'gatewright-kills-'))
    return {
      env: { DATA_DIR: dataDir },
      open: () => fromSqlite(new Database(join(dataDir, 'host.sqlite'))),
      async audit(check) {
        // Opening the file itself would recover it before the next host does.
        const copy = mkdtempSync(join(tmpdir(), 'gatewright-kills-'))
        cpSync(dataDir, copy, { recursive: true, filter: path => !path.endsWith('host.sock') })
        const database = new Database(join(copy, 'host.sqlite'))
        const found = await check(fromSqlite(database))
        database.close()
        rmSync(copy, { recursive: true })
        return found
      },
      close: async () => rmSync(dataDir, { recursive: true, force: true }),
    }
  }
  const { env, drop } = await hostStoresEnv('postgres')
  const pool = new pg.Pool({ connectionString: env['DATABASE_URL'], max: 1 })
  return {
    env,
    open: () => fromPgPool(pool),
    audit: check => check(fromPgPool(pool)),
    async close() {
      await pool.end()
      await drop()
    },
  }
}

/** What is done to a host that may be killed meanwhile. */
export type Act = () => Promise<HttpResponse | void>

/** The statements after which something may be committed without anybody knowing. */
function outsideTransactions(statements: readonly string[]): number[] {
  let open = false
  return statements.flatMap((text, index) => {
    if (text.startsWith('begin')) open = true
    if (text.endsWith('commit')) open = false
    return open || text.startsWith('provider') ? [] : [index + 1]
  })
}
