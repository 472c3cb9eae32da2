import { AsyncLocalStorage } from 'node:async_hooks'
import { Fault } from '../fault.ts'
import type { SqlClient } from './client.ts'

interface Confinement {
  /** Undefined once the work has ended: what it left behind may use the database again. */
  db: SqlClient | undefined
}

/** Made at first use, because async context tracking costs every promise of a process on older Nodes. */
let scope: AsyncLocalStorage<Confinement> | undefined

/**
 * Runs work that may use only its own transaction of `db`: until it ends, `db` itself refuses every call made
 * from within it. On SQLite such a call would wait for ever, on Postgres it would commit by itself.
 */
export async function withinTransactionScope<T>(db: SqlClient, work: () => Promise<T>): Promise<T> {
  scope ??= new AsyncLocalStorage()
  const confinement: Confinement = { db }
  try {
    return await scope.run(confinement, work)
  } finally {
    confinement.db = undefined
  }
}

/**
 * Refuses a call made from within work that is confined to a transaction of `db`, with the fault
 * `ERR_OUTSIDE_TRANSACTION`. For the recipes, and for whoever sends a statement from another call than asked for it.
 */
export function assertOutsideTransactionScope(db: SqlClient): void {
  if (scope?.getStore()?.db !== db) return
  const message =
    'the database was used inside its own transaction: use only the tx that the handler is given'
  throw new Fault('ERR_OUTSIDE_TRANSACTION', message)
}
