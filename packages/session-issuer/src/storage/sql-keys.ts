import { keyDigest, malformedReply } from '@gatewright/kernel'
import { rows, type SqlClient, type SqlQueries, type SqlRow, type SqlValue } from '@gatewright/kernel/sql'
import { takesDue, toInteger, toText } from '@gatewright/kernel/internal/sql'
import { appendAudit } from './sql-audit.ts'
import { sqlFeedWriter } from './sql-feed.ts'
import { endOf, parse, readKey, readPolicy } from './parse-records.ts'
import type { KeyRecord, KeyStorage, KeyWrite } from './port.ts'
import { assertRoute, routeOfDigest } from '../route.ts'
import { inLanes, laneOfDigest, laneOfId, laneOfPolicy, padded, parameters } from './sql-parameters.ts'

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

/** Writes more in the transaction of a commit of keys. */
export type WithinCommit = (tx: SqlQueries, accountId: string, write: KeyWrite) => Promise<void>

/**
 * `KeyStorage` on either SQL store. A commit is one transaction that begins with the account's revision. Accounts are
 * looked up by digest, because a partner can choose any text as an account id.
 */
export function sqlKeyStorage(db: SqlClient, prefix: string, withinCommit: WithinCommit): KeyStorage {
  const accounts = `${prefix}accounts`
  const keys = `${prefix}keys`
  const policies = `${prefix}key_policies`
  const feed = sqlFeedWriter(db, prefix)
  const columns = 'k.record, k.digest, k.pepper_id, k.last_used_at'
  const put = `insert into ${keys}
    (id, account, lineage_id, digest, pepper_id, last_used_at, ended_at, record, lane)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    on conflict (lane, id) do update set ended_at = excluded.ended_at, record = excluded.record`

  return {
    async find(id) {
      const [row] = await rows(db, `select ${columns} from ${keys} k where k.lane = $1 and k.id = $2`, [
        laneOfId(id),
        id,
      ])
      return row && toKey(row)
    },
    async load(accountId) {
      const account = keyDigest(accountId)
      const found = await rows(
        db,
        `select a.revision, k.id, ${columns} from ${accounts} a left join ${keys} k
          on k.lane = $1 and k.account = a.account where a.lane = $1 and a.account = $2`,
        [laneOfDigest(account), account],
      )
      const revision = found[0] ? toInteger(found[0]['revision']) : 0
      return { revision, keys: found.filter(row => row['id'] !== null).map(toKey) }
    },
    commit: (accountId, revision, write) => {
      const account = keyDigest(accountId)
      const lane = laneOfDigest(account)
      return feed.transaction(lane, async tx => {
        assertRoute(routeOfDigest(account), write.keys, write.policies)
        const [won] = await rows(
          tx,
          revision === 0
            ? `insert into ${accounts} (lane, account, revision) values ($3, $1, 1 + $2)
                on conflict (lane, account) do nothing returning revision`
            : `update ${accounts} set revision = revision + 1 where lane = $3 and account = $1 and revision = $2
                returning revision`,
          [account, revision, lane],
        )
        if (!won) return { result: false, changes: [] }
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
            lane,
          ])
        }
        for (const { id, lineageId, document } of write.policies) {
          await rows(
            tx,
            `insert into ${policies} (lane, id, lineage_id, document) values ($1, $2, $3, $4)
              on conflict (lane, id, lineage_id) do nothing`,
            [lane, id, lineageId, JSON.stringify(document)],
          )
        }
        const drop = write.drop?.length ? padded(write.drop) : []
        if (drop.length > 0)
          await deleteKeys(tx, prefix, `lane = $1 and id in (${parameters(drop.length, 2)})`, [lane, ...drop])
        await appendAudit(tx, prefix, write.audit ?? [])
        await withinCommit(tx, accountId, write)
        return { result: true, changes: write.feed }
      })
    },
    touch: uses => touch(db, accounts, keys, uses),
    async policies(ids) {
      if (ids.length === 0) return []
      const { text, values } = inLanes(ids, laneOfPolicy)
      const found = await rows(db, `select distinct id, document from ${policies} where ${text}`, values)
      return found.map(row => readPolicy(row['id'], row['document']))
    },
    async collect(limit, endedBefore) {
      const due = { due: 'ended_at < $1', order: 'ended_at', limit: '$2' }
      const taken = await takesDue(db, { table: keys, key: 'lane, id', ...due })
      return db.transaction(tx => deleteKeys(tx, prefix, taken, [endedBefore, limit]))
    },
  }
}

/** Deletes keys, and the policies of lineages that have no key left. Returns the number of deleted keys. */
async function deleteKeys(
  tx: SqlQueries,
  prefix: string,
  which: string,
  values: readonly SqlValue[],
): Promise<number> {
  const keys = `${prefix}keys`
  const policies = `${prefix}key_policies`
  const deleted = await rows(tx, `delete from ${keys} where ${which} returning lineage_id`, values)
  if (deleted.length === 0) return 0
  const lineages = deleted.map(row => row['lineage_id'] as string)
  const { text, values: routed } = inLanes(lineages, laneOfId, 'lineage_id')
  await rows(
    tx,
    `delete from ${policies} where ${text}
      and not exists (select 1 from ${keys} k where k.lane = ${policies}.lane and k.lineage_id = ${policies}.lineage_id)`,
    routed,
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
    const { text, values } = inLanes(
      uses.map(use => use.id),
      laneOfId,
    )
    const owners = await rows(
      tx,
      `select distinct account from ${keys} where ${text} order by account`,
      values,
    )
    for (const owner of owners) {
      const account = toText(owner['account'])
      await rows(tx, `update ${accounts} set revision = revision + 1 where lane = $1 and account = $2`, [
        laneOfDigest(account),
        account,
      ])
    }
    for (const { id, at, rehash } of uses) {
      await rows(
        tx,
        `update ${keys} set last_used_at = case when last_used_at > $2 then last_used_at else $2 end,
          digest = coalesce($3, digest), pepper_id = coalesce($4, pepper_id) where lane = $5 and id = $1`,
        [id, at, rehash?.digest ?? null, rehash?.pepperId ?? null, laneOfId(id)],
      )
    }
  })
}
