import { keyDigest } from '../key-digest.ts'
import { readVersions } from './ddl.ts'
import { readMarks } from './distribute.ts'
import { defer, rows, upsert, type SqlClient, type SqlQueries, type TableMark } from './sql-client.ts'

/**
 * What a transaction locks. With `accountId`, one thing of an account, and on an engine of several machines the lock is where the rows of
 * the account are. With `id`, one of the things that are found without an account.
 */
export type NamedLock = { readonly kind: string } & ({ readonly accountId: string } | { readonly id: string })

/**
 * The rows that transactions lock. An account has a row for each kind of lock, for good; ids without an account
 * share 4,096 rows for each kind.
 */
const DDL = `-- version 1
create table if not exists {prefix}lock_rows (
  account_id {id} not null,
  name {id} not null,
  times bigint not null,
  primary key (account_id, name)
) {by account_id};
`

/** Where the rows of the lock table are. */
export const lockTableMarks = (prefix: string): readonly TableMark[] => readMarks(DDL, prefix)

/** Ids whose digests begin with the same letters share a row. Then they wait for each other, which is not wrong. */
const SHARED_LETTERS = 2

/**
 * Locks a name until the transaction ends: another transaction that locks it waits, and its later statements see what this one has
 * committed. Sent with the next statement. It updates a row, so that it also works on a snapshot: there the one that waited fails with
 * SQLSTATE 40001. `migrate` creates the table. An advisory lock would do neither behind a pooler nor on several machines. Does nothing on SQLite, which has one writer. Take locks of several kinds in one order everywhere, and of one kind only one, because ids can
 * share a row. `prefix` is the checked prefix of the tables.
 */
export async function lockName(tx: SqlQueries, prefix: string, lock: NamedLock): Promise<void> {
  if (tx.dialect === 'sqlite') return
  const table = `${prefix}lock_rows`
  const [accountId, name] =
    'accountId' in lock
      ? [lock.accountId, lock.kind]
      : ['', `${lock.kind}:${keyDigest(lock.id).slice(0, SHARED_LETTERS)}`]
  const { clause } = upsert(tx, 'account_id, name')
  const text = `insert into ${table} (account_id, name, times) values ($1, $2, 1)
    ${clause} times = ${table}.times + 1`
  await defer(tx, text, [accountId, name])
}

/** Errors of statements that create what another connection is just creating. */
const CREATED_MEANWHILE = new Set(['23505', '40001', '40P01', '42P07', '42710', 'XX000'])

/** Creates the table of the rows. When several hosts call it simultaneously, all find it at the end. */
export async function createLockTable(db: SqlClient, prefix: string): Promise<void> {
  const statements = readVersions(DDL, db.dialect).flatMap(version => version.statements)
  for (let attempt = 1; ; attempt++) {
    try {
      for (const text of statements) await rows(db, text.replaceAll('{prefix}', prefix))
      return
    } catch (error) {
      const { cause } = error as { readonly cause?: { readonly code?: unknown } }
      if (attempt === 10 || !CREATED_MEANWHILE.has(String(cause?.code))) throw error
    }
  }
}
