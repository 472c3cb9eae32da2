import { GRACE_MS, keyDigest, malformedReply } from '@gatewright/kernel'
import { checkOptions } from '@gatewright/kernel/internal'
import { rows, type SqlQueries, type SqlValue } from '@gatewright/kernel/sql'
import { checkedPrefix, DEFAULT_PREFIX, toInteger } from '@gatewright/kernel/internal/sql'
import type { ChallengeStorage } from './port.ts'

/** Options of the SQL adapters. */
export interface SqlNoncesOptions {
  /** Prefix of the tables, as given to `migrate`. Default `gw_`. */
  readonly prefix?: string
}

/**
 * Builds the port from single statements that Postgres and SQLite both run. The upsert locks the row before it evaluates its
 * WHERE, so simultaneous claims see each other and a loser gets no row. A call that waited for a row that was deleted finds no
 * row. A full disk is `ERR_STORE_UNAVAILABLE`; nothing is evicted.
 */
export function sqlStorage(caller: string, db: SqlQueries, options: SqlNoncesOptions): ChallengeStorage {
  const prefix = checkedPrefix(checkOptions(caller, options, { prefix: { default: DEFAULT_PREFIX } }).prefix)
  const claim = `insert into ${prefix}nonces as stored (digest, expires_at) values ($1, $2)
    on conflict (digest) do update set expires_at = excluded.expires_at where stored.expires_at <= $3
    returning 1 as won`
  const issue = `insert into ${prefix}challenges (digest, expires_at) values ($1, $2)
    on conflict (digest) do nothing
    returning 1 as won`
  const consume = `delete from ${prefix}challenges where digest = $1 and expires_at > $2 returning 1 as won`
  // The condition is repeated: if a row changes while the statement waits for it, Postgres evaluates only the outer condition again.
  const collect = (table: string): string => `delete from ${table} where digest in
    (select digest from ${table} where expires_at <= $1 order by expires_at limit $2) and expires_at <= $1
    returning 1 as deleted`
  const [collectNonces, collectChallenges] = [collect(`${prefix}nonces`), collect(`${prefix}challenges`)]

  const decide = async (statement: string, values: readonly SqlValue[]): Promise<boolean> => {
    const [won, ...rest] = await rows(db, statement, values)
    if (rest.length > 0 || (won && toInteger(won['won']) !== 1))
      throw malformedReply('database', 'one row or none')
    return won !== undefined
  }
  return {
    claim: (key, expiresAt, now) => decide(claim, [keyDigest(key), expiresAt, now]),
    issue: (key, expiresAt) => decide(issue, [keyDigest(key), expiresAt]),
    consume: (key, now) => decide(consume, [keyDigest(key), now]),
    collect: async (limit, now) => {
      const cutoff = now - GRACE_MS
      const deleted = (await rows(db, collectNonces, [cutoff, limit])).length
      if (deleted === limit) return deleted
      return deleted + (await rows(db, collectChallenges, [cutoff, limit - deleted])).length
    },
  }
}
