import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries, type SqlRow } from '@gatewright/kernel/sql'
import { DEFAULT_PREFIX, toText } from '@gatewright/kernel/internal/sql'
import { parse } from './parse-records.ts'

// An operator's commands on all accounts read these tables as a whole, which no request does.

/** A key that can be presented. */
export interface LiveKey {
  readonly id: string
  readonly accountId: string
}

/** Lists all keys that have neither ended nor belong to a console, whose text nobody has. Reads the whole table. */
export async function liveKeys(db: SqlQueries, now: EpochMs): Promise<readonly LiveKey[]> {
  // A key is JSON of this package. A quote in a label has a backslash before it, so a label cannot contain this text.
  const text = `select id, record from ${DEFAULT_PREFIX}keys
    where (ended_at is null or ended_at > $1) and record not like '%"console":true%' order by id`
  return (await rows(db, text, [now])).map(row => ({
    id: toText(row['id']),
    accountId: accountOf(row),
  }))
}

/** Lists the accounts that have sessions which are neither revoked nor over. */
export async function accountsWithSessions(db: SqlQueries, now: EpochMs): Promise<readonly string[]> {
  const text = `select min(record) as record from ${DEFAULT_PREFIX}sessions
    where revoked_at is null and expires_at > $1 group by lane, account`
  return (await rows(db, text, [now])).map(accountOf)
}

/** The column with the account has a digest; the record has its id. */
const accountOf = (row: SqlRow): string =>
  toText((parse(row['record']) as { readonly accountId?: unknown }).accountId)
