import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto'
import type { Clock } from '@gatewright/kernel'
import { rows, toText, type SqlQueries } from '@gatewright/kernel/sql'
import { LRUCache } from 'lru-cache'
import type { Sealer } from '../../records/sealed.ts'

/** The data keys of accounts: 32 random bytes each, a sealed column of the user. */
export interface AccountKeys {
  /** The key of an account; undefined while it has none. */
  find(accountId: string): Promise<KeyObject | undefined>
  /** The same; makes the key at first use. Of simultaneous calls on any hosts, all get the one key. */
  findOrCreate(accountId: string): Promise<KeyObject>
}

const PURPOSE = 'data key'
const KEY_BYTES = 32
/** For how long a key is used without a look at the database. An erased key ends on every host within this time. */
const WARM_MS = 60_000
const MOST_WARM = 10_000

const FIND = 'select data_key from gw_users where account_id = $1'
// One statement, so that of two that are made at once the first stays.
const CREATE =
  'update gw_users set data_key = coalesce(data_key, $2) where account_id = $1 returning data_key'

/** Makes the reader of data keys, which keeps those used lately. */
export function accountKeys(db: SqlQueries, sealer: Sealer, clock: Clock): AccountKeys {
  // No resolution: each look asks the clock, so that a key is never used after its time.
  const warm = new LRUCache<string, KeyObject>({
    ...{ max: MOST_WARM, ttl: WARM_MS, ttlResolution: 0 },
    perf: clock,
  })
  const open = (accountId: string, sealed: unknown): KeyObject => {
    const bytes = Buffer.from(sealer.open(PURPOSE, accountId, toText(sealed)), 'base64url')
    const key = createSecretKey(bytes)
    warm.set(accountId, key)
    return key
  }

  const find: AccountKeys['find'] = async accountId => {
    const known = warm.get(accountId)
    if (known) return known
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
