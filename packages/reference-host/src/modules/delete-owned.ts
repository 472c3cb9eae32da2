import { rows, type SqlQueries } from '@gatewright/kernel/sql'

/** A row of an account. */
export interface OwnedId {
  readonly accountId: string
  readonly id: string
}

/**
 * Runs a `delete` for rows of accounts, if there are any. `statement` makes its text from the list of the rows, which it compares as in
 * `where (account_id, id) in ${owned}`.
 */
export async function deleteOwned(
  tx: SqlQueries,
  all: readonly OwnedId[],
  statement: (owned: string) => string,
): Promise<void> {
  if (all.length === 0) return
  const places = all.map((_, index) => `($${2 * index + 1}, $${2 * index + 2})`).join(', ')
  const values = all.flatMap(({ accountId, id }) => [accountId, id])
  await rows(tx, statement(`(values ${places})`), values)
}
