import { AsyncLocalStorage } from 'node:async_hooks'
import { Fault } from '../fault.ts'
import type { SqlClient } from './sql-client.ts'

interface Scope {
  /** Undefined once the work has ended: promises that it did not await may use the database again. */
  db: SqlClient | undefined
}

/**
 * Follows promises only while a scope is open, because on Node 20 this makes every promise of the process slower: 15 % of a guarded
 * read of the host (npm run bench -- host).
 */
const scopes = new AsyncLocalStorage<Scope>()
let openScopes = 0

/**
 * Runs work that may use only its own transaction of `db`: until it ends, `db` itself rejects every call made within
 * the work's async context. On SQLite such a call would wait forever; on Postgres it would commit separately.
 */
export async function withinTransactionScope<T>(db: SqlClient, work: () => Promise<T>): Promise<T> {
  const scope: Scope = { db }
  openScopes += 1
  try {
    return await scopes.run(scope, work)
  } finally {
    scope.db = undefined
    openScopes -= 1
    if (openScopes === 0) stopFollowing()
  }
}

function stopFollowing(): void {
  try {
    scopes.disable()
  } catch {
    // workerd has the function, and it throws. There following costs nothing that is known.
  }
}

/**
 * Rejects a call made within a transaction scope of `db`, with the fault `ERR_OUTSIDE_TRANSACTION`. Every `SqlClient`
 * calls it. Code that sends a statement after the call that asked for it must call it during that call, because the async
 * context differs later. `used` says in the message what was used.
 */
export function assertOutsideTransactionScope(db: SqlClient, used = 'the database'): void {
  if (scopes.getStore()?.db !== db) return
  const message = `${used} was used inside its own transaction: use only the tx that the handler is given`
  throw new Fault('ERR_OUTSIDE_TRANSACTION', message)
}
