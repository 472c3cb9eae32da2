import { GRACE_MS, keyDigest, malformedReply } from '@gatewright/kernel'
import { checkedPrefix, DEFAULT_PREFIX, rows, type SqlQueries } from '@gatewright/kernel/sql'
import type { NonceStorage } from './port.ts'

/** Options of the SQL adapters. */
export interface SqlStorageOptions {
  /** Prefix of the table, as given to `migrate`. Default `gw_`. */
  readonly prefix?: string
}

/**
 * The verbs as single statements that read the same on Postgres and SQLite. The upsert locks the row before
 * its WHERE looks at it, so simultaneous claims see each other; a loser gets no row back.
 */
export function sqlStorage(db: SqlQueries, options: SqlStorageOptions = {}): NonceStorage {
  const table = `${checkedPrefix(options.prefix ?? DEFAULT_PREFIX)}nonces`
  const claim = `insert into ${table} as held (digest, expires_at) values ($1, $2)
    on conflict (digest) do update set expires_at = excluded.expires_at where held.expires_at <= $3
    returning 1 as won`
  const collect = `delete from ${table} where digest in
    (select digest from ${table} where expires_at <= $1 order by expires_at limit $2)
    returning 1 as gone`
  return {
    claim: async (key, expiresAt, now) => {
      const [won, ...rest] = await rows(db, claim, [keyDigest(key), expiresAt, now])
      if (rest.length > 0 || (won && won['won'] !== 1)) throw malformedReply('database', 'one row or none')
      return won !== undefined
    },
    collect: async (limit, now) => (await rows(db, collect, [now - GRACE_MS, limit])).length,
  }
}
