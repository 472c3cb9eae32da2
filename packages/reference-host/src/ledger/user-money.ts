import { rows, toInteger, type SqlQueries } from '@gatewright/kernel/sql'
import { ledgerAccounts } from './accounts.ts'

const TOTAL = `select coalesce(sum(a.balance_cents
    + (select coalesce(sum(t.amount_cents), 0) from gw_ledger_tail t where t.account_id = a.id)), 0) as total
  from gw_ledger_accounts a
  where a.id = $1 or substr(a.id, 1, length($2)) = $2 or substr(a.id, 1, length($3)) = $3`

/** All money of a user in cents: what it can spend, what is held for cards and withdrawals, and what it has put aside. */
export async function userMoney(db: SqlQueries, accountId: string): Promise<number> {
  const [row] = await rows(db, TOTAL, [
    ledgerAccounts.user(accountId),
    `held:${accountId}:`,
    `contract:${accountId}:`,
  ])
  return toInteger(row?.['total'])
}
