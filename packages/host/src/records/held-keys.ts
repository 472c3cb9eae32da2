import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'

/** A key that is denied until an operator releases it: it may have been revoked by a write that the database has lost. */
export interface HeldKey {
  readonly keyId: string
  readonly accountId: string
  readonly heldAt: EpochMs
}

/** How many keys one statement holds. */
const BATCH = 500

/** Holds keys. One that is held already stays as it is. */
export async function holdKeys(
  tx: SqlQueries,
  keys: readonly Pick<HeldKey, 'keyId' | 'accountId'>[],
  now: EpochMs,
): Promise<void> {
  for (let at = 0; at < keys.length; at += BATCH) {
    const batch = keys.slice(at, at + BATCH)
    const places = batch.map((_, n) => `($${2 * n + 2}, $${2 * n + 3}, $1)`)
    const text = `insert into gw_held_keys (key_id, account_id, held_at) values ${places.join(', ')} on conflict do nothing`
    await rows(tx, text, [now, ...batch.flatMap(({ keyId, accountId }) => [keyId, accountId])])
  }
}

/** Whether a key is held. */
export async function isKeyHeld(db: SqlQueries, keyId: string): Promise<boolean> {
  return (await rows(db, 'select 1 as held from gw_held_keys where key_id = $1', [keyId])).length > 0
}

/** Returns the ids of the keys of an account that are held. */
export async function heldKeysOf(db: SqlQueries, accountId: string): Promise<ReadonlySet<string>> {
  const text = 'select key_id from gw_held_keys where account_id = $1'
  return new Set((await rows(db, text, [accountId])).map(row => toText(row['key_id'])))
}

/** Whether any key is held. */
export async function isAnyKeyHeld(db: SqlQueries): Promise<boolean> {
  return (await rows(db, 'select 1 as held from gw_held_keys limit 1')).length > 0
}

/** Lists held keys, those of one account together. */
export async function listHeldKeys(db: SqlQueries, limit: number): Promise<readonly HeldKey[]> {
  const text = 'select key_id, account_id, held_at from gw_held_keys order by account_id, key_id limit $1'
  return (await rows(db, text, [limit])).map(row => ({
    keyId: toText(row['key_id']),
    accountId: toText(row['account_id']),
    heldAt: toInteger(row['held_at']),
  }))
}

/** Releases a key, or the keys of an account, and returns the number. */
export async function releaseKeys(tx: SqlQueries, keyOrAccountId: string): Promise<number> {
  const text = 'delete from gw_held_keys where key_id = $1 or account_id = $1 returning key_id'
  return (await rows(tx, text, [keyOrAccountId])).length
}

/** Releases all keys, and returns the number. */
export async function releaseAllKeys(tx: SqlQueries): Promise<number> {
  return (await rows(tx, 'delete from gw_held_keys returning key_id')).length
}
