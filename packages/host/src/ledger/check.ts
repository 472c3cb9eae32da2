import { rows, type SqlClient } from '@gatewright/kernel/sql'
import type { Ledger, LedgerReport } from './ledger.ts'
import { accountsThatDiffer, describeDifference, type HeldMoney } from './differences.ts'
import { statementLimit } from './statements.ts'

/** The result of `ledger check`: the report, and one sentence for each problem. */
export interface LedgerFindings {
  readonly report: LedgerReport
  readonly problems: readonly string[]
}

/** Adds up the whole ledger and compares it with the business rows. `statementMs` is that of `Ledger.check`. */
export async function checkLedger(
  ledger: Ledger,
  db: SqlClient,
  held: readonly HeldMoney[],
  statementMs = 0,
): Promise<LedgerFindings> {
  const report = await ledger.check(statementMs)
  const differences = await db.transaction(async tx => {
    if (db.dialect === 'postgres') await rows(tx, statementLimit(statementMs))
    return accountsThatDiffer(tx, held)
  })
  const { sumCents, wrongAccounts } = report
  const problems = [
    ...(sumCents === 0 ? [] : [`all balances add up to ${sumCents} US cents, not to 0`]),
    ...wrongAccounts.map(
      account => `the balance of ${account} is not the sum of its transfers, or it is below zero`,
    ),
    ...differences.map(each => describeDifference(each, held)),
  ]
  return { report, problems }
}
