import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import { ledgerAccounts } from '@gatewright/host/internal'

/** All money of a user, in cents. */
interface UserMoney {
  /** Money that can be spent now. */
  readonly availableCents: number
  /** Money that is held for merchants. */
  readonly heldForCardsCents: number
  /** Money that is held for open withdrawals. */
  readonly heldForWithdrawalsCents: number
  /** Money in contracts. */
  readonly contractsCents: number
}

/** The sum of the accounts of a user that a `where` clause selects. */
const sumOf = (
  where: string,
): string => `(select coalesce(sum(a.balance_cents + (select coalesce(sum(t.amount_cents), 0) from gw_ledger_tail t
      where t.account_id = $1 and t.ledger_account = a.id)), 0)
    from gw_ledger_accounts a ${where})`

const BALANCES = `select
  ${sumOf('where a.account_id = $1 and a.id = $2')} as available,
  ${sumOf('where a.account_id = $1 and a.id = $3')} as cards,
  ${sumOf('where a.account_id = $1 and a.id = $4')} as withdrawals,
  ${sumOf('where a.account_id = $1 and a.id >= $5 and a.id < $6')} as contracts`

/** Reads all money of a user in one statement, so that money that moves between two accounts meanwhile is counted once. */
export async function readUserMoney(db: SqlQueries, accountId: string): Promise<UserMoney> {
  const [row] = await rows(db, BALANCES, [
    accountId,
    ledgerAccounts.user(accountId),
    ledgerAccounts.held(accountId, 'cards'),
    ledgerAccounts.held(accountId, 'withdrawals'),
    // `;` is the character after `:`, so it ends the range of the ids that begin with the prefix.
    `contract:${accountId}:`,
    `contract:${accountId};`,
  ])
  return {
    availableCents: toInteger(row?.['available']),
    heldForCardsCents: toInteger(row?.['cards']),
    heldForWithdrawalsCents: toInteger(row?.['withdrawals']),
    contractsCents: toInteger(row?.['contracts']),
  }
}

/** The sum of all money of a user in cents. */
export async function userMoney(db: SqlQueries, accountId: string): Promise<number> {
  return Object.values(await readUserMoney(db, accountId)).reduce(
    (sum: number, cents: number) => sum + cents,
    0,
  )
}
