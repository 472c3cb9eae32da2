import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto'
import type { Clock } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toText } from '@gatewright/kernel/internal/sql'
import { LRUCache } from 'lru-cache'
import type { Sealer } from '@gatewright/host/internal'

/** Finds and creates data keys. Each account has one, which encrypts its data: 32 random bytes, stored encrypted in `gw_users`. */
export interface AccountKeys {
  /** Returns the key of an account; undefined if it has none yet. */
  find(accountId: string): Promise<KeyObject | undefined>
  /**
   * Returns the key of an existing account, and creates it at first use. Simultaneous calls, on any number of hosts, get the
   * same key. After the key was erased, this creates a new one, which decrypts nothing that the erased key encrypted.
   */
  findOrCreate(accountId: string): Promise<KeyObject>
}

const PURPOSE = 'data key'
const KEY_BYTES = 32
/** How long a key is cached. When a user is erased, which deletes the key, every host stops using it within this time. */
const CACHED_MS = 60_000
const MAX_CACHED_KEYS = 10_000

const FIND = 'select data_key from gw_users where account_id = $1'
// One statement, so that of two keys made at the same time the first one stays.
const CREATE =
  'update gw_users set data_key = coalesce(data_key, $2) where account_id = $1 returning data_key'

/** Makes the `AccountKeys` of a database, with a cache of the keys that were used last. */
export function accountKeys(db: SqlQueries, sealer: Sealer, clock: Clock): AccountKeys {
  // With ttlResolution 0 each look-up reads the clock, so that no key is used after its time.
  const cache = new LRUCache<string, KeyObject>({
    // Entries have size 1. With `max`, lru-cache would allocate memory for all entries at once.
    maxSize: MAX_CACHED_KEYS,
    ttl: CACHED_MS,
    ttlResolution: 0,
    perf: clock,
  })
  const open = (accountId: string, sealed: unknown): KeyObject => {
    const bytes = Buffer.from(sealer.open(PURPOSE, accountId, toText(sealed)), 'base64url')
    const key = createSecretKey(bytes)
    cache.set(accountId, key, { size: 1 })
    return key
  }

  const find: AccountKeys['find'] = async accountId => {
    const cached = cache.get(accountId)
    if (cached) return cached
    const [row] = await rows(db, FIND, [accountId])
    return row && row['data_key'] !== null ? open(accountId, row['data_key']) : undefined
  }

  return {
    find,
    async findOrCreate(accountId) {
      const known = await find(accountId)
      if (known) return known
      const fresh = sealer.seal(PURPOSE, accountId, randomBytes(KEY_BYTES).toString('base64url'))
      const [row] = await rows(db, CREATE, [accountId, fresh])
      return open(accountId, row?.['data_key'])
    },
  }
}
