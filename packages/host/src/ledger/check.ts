import { rows, type SqlClient } from '@gatewright/kernel/sql'
import type { Ledger, LedgerReport } from './ledger.ts'
import { accountsThatDiffer, describeDifference, type HeldMoney } from './differences.ts'
import { storePosition } from './position.ts'
import { statementLimit } from './statements.ts'

/** The result of `ledger check`: the report, and one sentence for each problem. */
export interface LedgerFindings {
  readonly report: LedgerReport
  readonly problems: readonly string[]
}

/** How a ledger is checked. */
interface LedgerCheckMode {
  /** Whether to add up all transfers, not only those since the last check that found nothing wrong. Default false. SQLite and Postgres with minimal features always do. */
  readonly full?: boolean
  /** That of `Ledger.check`. Default: no limit. */
  readonly statementMs?: number
}

/**
 * Adds up the transfers since the last check that found nothing wrong, and compares the balances with the business rows: those of
 * the accounts that these transfers moved money of, and everything that is held. With `full`, adds up and compares everything, so that it
 * also finds what was changed before. Stores where the next check begins, if nothing is wrong. A transfer that commits during a check
 * is checked by the next one. Of simultaneous checks, one stores. Faults: `ERR_STORE_*`.
 */
export async function checkLedger(
  ledger: Ledger,
  db: SqlClient,
  held: readonly HeldMoney[],
  { full = false, statementMs = 0 }: LedgerCheckMode = {},
): Promise<LedgerFindings> {
  const { since, position, ...report } = await ledger.check(statementMs, !full)
  const differences = await db.transaction(async tx => {
    if (db.dialect === 'postgres') await rows(tx, statementLimit(statementMs))
    return accountsThatDiffer(tx, held, since)
  })
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
    await storePosition(db, since, position, statementLimit(statementMs))
  return { report, problems }
}
