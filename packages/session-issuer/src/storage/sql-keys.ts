import { keyDigest, malformedReply } from '@gatewright/kernel'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { rowLock, toInteger, type SqlRow, type SqlValue } from '@gatewright/kernel/internal/sql'
import { appendAudit } from './sql-audit.ts'
import { appendToFeed } from './sql-feed.ts'
import { endOf, parse, readKey, readPolicy } from './parse-records.ts'
import type { KeyRecord, KeyStorage } from './port.ts'

/** `$1, $2, ...` for a list of values that starts at parameter `from`. */
export function parameters(count: number, from = 1): string {
  return Array.from({ length: count }, (_, index) => `$${from + index}`).join(', ')
}

/**
 * Repeats the last value up to the next power of two. A statement has another text for each number of values, and a connection
 * keeps each prepared text: so there are a dozen texts and not a thousand.
 */
export function padded<T>(values: readonly T[]): readonly T[] {
  const size = 2 ** Math.ceil(Math.log2(values.length))
  return [...values, ...Array<T>(size - values.length).fill(values.at(-1) as T)]
}

/** Parses a row. Its other columns are only for conditions and updates in SQL. */
function toKey(row: SqlRow): KeyRecord {
  const used = row['last_used_at']
  return readKey({
    ...(parse(row['record']) as object),
    digest: row['digest'],
    pepperId: row['pepper_id'],
    lastUsedAt: used === null ? null : toInteger(used),
  })
}

/**
 * `KeyStorage` on either SQL store. A commit is one transaction that begins with the account's revision. Accounts are
 * looked up by digest, because a partner can choose any text as an account id.
 */
export function sqlKeyStorage(db: SqlClient, prefix: string): KeyStorage {
  const accounts = `${prefix}accounts`
  const keys = `${prefix}keys`
  const policies = `${prefix}key_policies`
  // Two hosts that collect at the same time lock different rows instead of waiting for each other.
  const skip = rowLock(db, 'for update skip locked')
  const columns = 'k.record, k.digest, k.pepper_id, k.last_used_at'
  const put = `insert into ${keys}
    (id, account, lineage_id, digest, pepper_id, last_used_at, ended_at, record)
    values ($1, $2, $3, $4, $5, $6, $7, $8)
    on conflict (id) do update set ended_at = excluded.ended_at, record = excluded.record`

  return {
    async find(id) {
      const [row] = await rows(db, `select ${columns} from ${keys} k where k.id = $1`, [id])
      return row && toKey(row)
    },
    async load(accountId) {
      const found = await rows(
        db,
        `select a.revision, k.id, ${columns} from ${accounts} a left join ${keys} k
          on k.account = a.account where a.account = $1`,
        [keyDigest(accountId)],
      )
      const revision = found[0] ? toInteger(found[0]['revision']) : 0
      return { revision, keys: found.filter(row => row['id'] !== null).map(toKey) }
    },
    commit: (accountId, revision, write) =>
      db.transaction(async tx => {
        const account = keyDigest(accountId)
        const [won] = await rows(
          tx,
          revision === 0
            ? `insert into ${accounts} (account, revision) values ($1, 1 + $2)
                on conflict (account) do nothing returning revision`
            : `update ${accounts} set revision = revision + 1 where account = $1 and revision = $2
                returning revision`,
          [account, revision],
        )
        if (!won) return false
        if (toInteger(won['revision']) !== revision + 1) throw malformedReply('database', 'the next revision')
        for (const key of write.keys) {
          const { digest, pepperId, lastUsedAt, ...record } = key
          const end = endOf(key)
          await rows(tx, put, [
            key.id,
            account,
            key.lineageId,
            digest,
            pepperId,
            lastUsedAt,
            Number.isFinite(end) ? end : null,
            JSON.stringify(record),
          ])
        }
        for (const { id, lineageId, document } of write.policies) {
          await rows(
            tx,
            `insert into ${policies} (id, lineage_id, document) values ($1, $2, $3) on conflict (id, lineage_id) do nothing`,
            [id, lineageId, JSON.stringify(document)],
          )
        }
        const drop = write.drop?.length ? padded(write.drop) : []
        if (drop.length > 0) await deleteKeys(tx, prefix, parameters(drop.length), drop)
        await appendAudit(tx, prefix, write.audit ?? [])
        await appendToFeed(tx, prefix, write.feed)
        return true
      }),
    touch: uses => touch(db, accounts, keys, uses),
    async policies(ids) {
      if (ids.length === 0) return []
      const wanted = padded(ids)
      const text = `select distinct id, document from ${policies} where id in (${parameters(wanted.length)})`
      return (await rows(db, text, wanted)).map(row => readPolicy(row['id'], row['document']))
    },
    collect: (limit, endedBefore) =>
      db.transaction(tx =>
        deleteKeys(
          tx,
          prefix,
          `select id from ${keys} where ended_at < $1 order by ended_at limit $2${skip}`,
          [endedBefore, limit],
        ),
      ),
  }
}

/** Deletes keys, and the policies of lineages that have no key left. Returns the number of deleted keys. */
async function deleteKeys(
  tx: SqlQueries,
  prefix: string,
  selectIds: string,
  values: readonly SqlValue[],
): Promise<number> {
  const keys = `${prefix}keys`
  const policies = `${prefix}key_policies`
  const deleted = await rows(
    tx,
    `delete from ${keys} where id in (${selectIds}) returning lineage_id`,
    values,
  )
  if (deleted.length === 0) return 0
  const lineages = padded([...new Set(deleted.map(row => row['lineage_id'] as string))])
  await rows(
    tx,
    `delete from ${policies} where lineage_id in (${parameters(lineages.length)})
      and not exists (select 1 from ${keys} k where k.lineage_id = ${policies}.lineage_id)`,
    lineages,
  )
  return deleted.length
}

/**
 * Records uses. It raises the revisions of accounts in one order on every host, so that two batches cannot deadlock.
 */
async function touch(
  db: SqlClient,
  accounts: string,
  keys: string,
  uses: Parameters<KeyStorage['touch']>[0],
): Promise<void> {
  if (uses.length === 0) return
  await db.transaction(async tx => {
    const ids = padded(uses.map(use => use.id))
    const owners = await rows(
      tx,
      `select distinct account from ${keys} where id in (${parameters(ids.length)}) order by account`,
      ids,
    )
    for (const owner of owners) {
      const account = owner['account'] as SqlValue
      await rows(tx, `update ${accounts} set revision = revision + 1 where account = $1`, [account])
    }
    for (const { id, at, rehash } of uses) {
      await rows(
        tx,
        `update ${keys} set last_used_at = case when last_used_at > $2 then last_used_at else $2 end,
          digest = coalesce($3, digest), pepper_id = coalesce($4, pepper_id) where id = $1`,
        [id, at, rehash?.digest ?? null, rehash?.pepperId ?? null],
      )
    }
  })
}
