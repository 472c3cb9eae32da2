import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { lockLedgerAccount, type LedgerReport } from './add-up.ts'
import { createLedger } from './ledger.ts'
import {
  accountsThatDiffer,
  describeDifference,
  type AccountDifference,
  type HeldMoney,
} from './differences.ts'
import { storePosition } from './position.ts'
import { statementLimit } from './statements.ts'

/** The result of `ledger check`: the report, and one sentence for each problem. */
export interface LedgerFindings {
  readonly report: LedgerReport
  readonly problems: readonly string[]
}

/** How a ledger is checked. */
interface LedgerCheckMode {
  /** Whether to add up all transfers, not only those since the last check that found nothing wrong. Default false. On SQLite a check always does. */
  readonly full?: boolean
  /** That of `Ledger.check`. Default: no limit. */
  readonly statementMs?: number
}

/**
 * Adds up the transfers since the last check that found nothing wrong, and compares the balances with the business rows: those of
 * the accounts that these transfers moved money of, and everything that is held. With `full`, adds up and compares everything, so that it
 * also finds what was changed before. What differs is compared again under the lock of its account. Stores where the next check begins, if nothing is wrong. A transfer that commits during a check
 * is checked by the next one. Of simultaneous checks, one stores. Faults: `ERR_STORE_*`.
 */
export async function checkLedger(
  db: SqlClient,
  held: readonly HeldMoney[],
  { full = false, statementMs = 0 }: LedgerCheckMode = {},
): Promise<LedgerFindings> {
  const { since, position, late, ...report } = await createLedger(db).check(statementMs, !full)
  const limited = <T>(work: (tx: SqlQueries) => Promise<T>): Promise<T> =>
    db.transaction(async tx => {
      if (db.dialect === 'postgres') await rows(tx, statementLimit(statementMs))
      return work(tx)
    })
  const found = await limited(tx => accountsThatDiffer(tx, held, since === undefined ? {} : { since }))
  // A transfer that committed late is before the position, so nothing else would compare the balance of its account.
  const lateBalances = late
    .filter(({ id }) => id.startsWith('user:'))
    .map(({ accountId, id }) => ({ accountId, account: id }))
  const differences: AccountDifference[] = []
  for (const { accountId, account } of [...found, ...lateBalances])
    differences.push(
      ...(await limited(async tx => {
        await lockLedgerAccount(tx, { accountId, id: account })
        return (await accountsThatDiffer(tx, held, { accountId })).filter(each => each.account === account)
      })),
    )
  const { sumCents, wrongAccounts, wrongTransfers } = report
  const problems = [
    ...(sumCents === 0 ? [] : [`all balances add up to ${sumCents} US cents, not to 0`]),
    ...wrongAccounts.map(
      account => `the balance of ${account} is not the sum of its transfers, or it is below zero`,
    ),
    ...wrongTransfers.map(id => `the debit and the credit of transfer ${id} do not add up to 0`),
    ...differences.map(each => describeDifference(each, held)),
  ]
  if (problems.length === 0 && position !== undefined)
    await storePosition(db, { since, position, late }, statementLimit(statementMs))
  return { report, problems }
}
