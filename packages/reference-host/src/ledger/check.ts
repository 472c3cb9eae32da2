import { rows, type SqlClient } from '@gatewright/kernel/sql'
import type { Ledger, LedgerReport } from './ledger.ts'
import { accountsThatDiffer, describeDifference } from './money.ts'
import { statementLimit } from './statements.ts'

/** The result of `ledger check`: the report, and one sentence for each problem. */
export interface LedgerFindings {
  readonly report: LedgerReport
  readonly problems: readonly string[]
}

/** Adds up the whole ledger and compares it with the business rows. `statementMs`: see `Ledger.check`. */
export async function checkLedger(ledger: Ledger, db: SqlClient, statementMs = 0): Promise<LedgerFindings> {
  const report = await ledger.check(statementMs)
  const differences = await db.transaction(async tx => {
    if (db.dialect === 'postgres') await rows(tx, statementLimit(statementMs))
    return accountsThatDiffer(tx)
  })
  const { sumCents, wrongAccounts } = report
  const problems = [
    ...(sumCents === 0 ? [] : [`all balances add up to ${sumCents} US cents, not to 0`]),
    ...wrongAccounts.map(
      account => `the balance of ${account} is not the sum of its transfers, or it is below zero`,
    ),
    ...differences.map(describeDifference),
  ]
  return { report, problems }
}
