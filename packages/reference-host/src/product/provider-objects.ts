import { defer, toText } from '@gatewright/kernel/internal/sql'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'

/** What providers, card networks and operators name by its id alone. */
export type ObjectKind = 'authorization' | 'card' | 'deposit' | 'increment' | 'kyc' | 'withdrawal'

/** Returns the account of an object; undefined for an unknown id. Never use it for an id from a request of an account. */
export async function accountOfObject(
  db: SqlQueries,
  kind: ObjectKind,
  id: string,
): Promise<string | undefined> {
  const text = 'select account_id from gw_provider_objects where kind = $1 and id = $2'
  const [row] = await rows(db, text, [kind, id])
  return row && toText(row['account_id'])
}

/**
 * Stores the account of a new object, in the round trip of the next statement. That statement fails (`ERR_STORE_*`) if any account has an
 * object of this kind with this id.
 */
export async function addObject(
  tx: SqlQueries,
  kind: ObjectKind,
  object: { readonly id: string; readonly accountId: string },
): Promise<void> {
  const text = 'insert into gw_provider_objects (kind, id, account_id) values ($1, $2, $3)'
  await defer(tx, text, [kind, object.id, object.accountId])
}

/** Removes an object that no longer exists under this id. */
export async function removeObject(tx: SqlQueries, kind: ObjectKind, id: string): Promise<void> {
  await defer(tx, 'delete from gw_provider_objects where kind = $1 and id = $2', [kind, id])
}

/** A table of objects that are read by account and id. */
interface ObjectTable<R> {
  find(db: SqlQueries, accountId: string, id: string): Promise<R | undefined>
  lock(tx: SqlQueries, accountId: string, id: string): Promise<R | undefined>
}

/** Access to objects by the id alone, for providers, card networks and operators. */
export interface ObjectsOfAnyAccount<R> {
  find(db: SqlQueries, id: string): Promise<R | undefined>
  /** Finds an object and locks it until the transaction ends. */
  lock(tx: SqlQueries, id: string): Promise<R | undefined>
}

/** Makes the access to the objects of a table by the id alone: first finds the account, then reads the row of the account. */
export function objectsOfAnyAccount<R>(kind: ObjectKind, table: ObjectTable<R>): ObjectsOfAnyAccount<R> {
  return {
    async find(db, id) {
      const accountId = await accountOfObject(db, kind, id)
      return accountId === undefined ? undefined : table.find(db, accountId, id)
    },
    async lock(tx, id) {
      const accountId = await accountOfObject(tx, kind, id)
      return accountId === undefined ? undefined : table.lock(tx, accountId, id)
    },
  }
}
