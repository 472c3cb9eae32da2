import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'
import { ownerOf } from './accounts.ts'

/** The rows that say what a `held:` account of a user promises to others. */
export interface HeldMoney {
  /** The purpose of the account, as in `ledgerAccounts.held`. */
  readonly purpose: string
  /** What the rows are, such as `open withdrawals`. */
  readonly name: string
  /** SQL text that selects `account_id` and `amount_cents` of each such row. Pass a constant. */
  readonly rows: string
}

const SIGNED_TRANSACTION = `case when direction = 'credit' and status = 'completed' then amount_cents
  when direction = 'debit' and status in ('pending', 'completed') then -amount_cents else 0 end`

/** A ledger account whose balance is not the sum of its business rows. */
export interface AccountDifference {
  readonly accountId: string
  readonly account: string
  readonly ledgerCents: number
  /** What the transactions, or the rows of held money, add up to. */
  readonly bookedCents: number
}

/** Which accounts are compared. Without a member: all. */
interface ComparedAccounts {
  /** Only the balances of users who have transfers since this instant, but everything that is held. */
  readonly since?: number
  /** Only this account. */
  readonly accountId?: string
}

/**
 * Compares the ledger with the business rows: each balance with the transactions of its account, and each `held:` account with the rows
 * of its purpose. Returns at most 100 differences. Reads everything that it compares, in one statement.
 */
export async function accountsThatDiffer(
  db: SqlQueries,
  held: readonly HeldMoney[],
  { since, accountId }: ComparedAccounts = {},
): Promise<readonly AccountDifference[]> {
  const moved =
    since === undefined
      ? ''
      : 'and account_id in (select account_id from gw_ledger_legs where created_at >= $1)'
  const own = accountId === undefined ? '' : 'and account_id = $1'
  const balances = (kind: string, which: string): string => `
      select account_id, id as account, balance_cents as ledger, 0 as booked from gw_ledger_accounts
        where substr(id, 1, 5) = '${kind}:' ${which}
      union all select account_id, ledger_account, amount_cents, 0 from gw_ledger_tail
        where substr(ledger_account, 1, 5) = '${kind}:' ${which}`
  const promised = held.map(
    ({ purpose, rows: text }) =>
      `union all select account_id, 'held:' || account_id || ':${purpose}', 0, amount_cents from (${text}) h where true ${own}`,
  )
  const text = `select account_id, account, sum(ledger) as ledger, sum(booked) as booked from (
      ${balances('user', `${moved} ${own}`)}
      union all ${balances('held', own)}
      union all select account_id, 'user:' || account_id, 0, ${SIGNED_TRANSACTION} from gw_transactions
        where true ${moved} ${own}
      ${promised.join('\n')}
    ) d group by account_id, account having sum(ledger) <> sum(booked) order by account limit 100`
  const values = [since, accountId].flatMap(value => value ?? [])
  return (await rows(db, text, values)).map(row => ({
    accountId: toText(row['account_id']),
    account: toText(row['account']),
    ledgerCents: toInteger(row['ledger']),
    bookedCents: toInteger(row['booked']),
  }))
}

/** Says a difference in a sentence. */
export function describeDifference(
  { account, ledgerCents, bookedCents }: AccountDifference,
  held: readonly HeldMoney[],
): string {
  const what = held.find(({ purpose }) => account.endsWith(`:${purpose}`))?.name ?? 'transactions'
  return `${account} has ${ledgerCents} US cents in the ledger, but the ${what} of ${ownerOf(account)} add up to ${bookedCents}`
}
