import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'
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

const BALANCES = `select a.id, a.balance_cents
    + (select coalesce(sum(t.amount_cents), 0) from gw_ledger_tail t
      where t.account_id = a.account_id and t.ledger_account = a.id) as cents
  from gw_ledger_accounts a where a.account_id = $1 and (a.id in ($2, $3, $4) or (a.id >= $5 and a.id < $6))`

/** Reads all money of a user in one statement, so that money that moves between two accounts meanwhile is counted once. */
export async function readUserMoney(db: SqlQueries, accountId: string): Promise<UserMoney> {
  const user = ledgerAccounts.user(accountId)
  const cards = ledgerAccounts.held(accountId, 'cards')
  const withdrawals = ledgerAccounts.held(accountId, 'withdrawals')
  // `;` is the character after `:`, so it ends the range of the ids that begin with the prefix.
  const contracts = [`contract:${accountId}:`, `contract:${accountId};`]
  const found = await rows(db, BALANCES, [accountId, user, cards, withdrawals, ...contracts])
  const sums = new Map<string, number>()
  for (const row of found) {
    const id = toText(row['id'])
    const name = id.startsWith('contract:') ? 'contracts' : id
    sums.set(name, (sums.get(name) ?? 0) + toInteger(row['cents']))
  }
  return {
    availableCents: sums.get(user) ?? 0,
    heldForCardsCents: sums.get(cards) ?? 0,
    heldForWithdrawalsCents: sums.get(withdrawals) ?? 0,
    contractsCents: sums.get('contracts') ?? 0,
  }
}

/** The sum of all money of a user in cents. */
export async function userMoney(db: SqlQueries, accountId: string): Promise<number> {
  return Object.values(await readUserMoney(db, accountId)).reduce(
    (sum: number, cents: number) => sum + cents,
    0,
  )
}
