import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'
import { ownerOf } from './accounts.ts'
import type { CheckedPosition } from './position.ts'

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
interface AccountDifference {
  readonly account: string
  readonly ledgerCents: number
  /** What the transactions, or the rows of held money, add up to. */
  readonly bookedCents: number
}

/** The users with a transfer since a position, which is parameter 1. */
const MOVED = `select distinct account_id from gw_ledger_legs
  where xid >= cast($1 as xid8) and substr(ledger_account, 1, 5) = 'user:'`

/**
 * Compares the ledger with the business rows: each balance with the transactions of its account, and each `held:` account with the rows
 * of its purpose. With a position, only the balances of users who have transfers since then. Returns at most 100 differences. Reads
 * everything that it compares, in one statement.
 */
export async function accountsThatDiffer(
  db: SqlQueries,
  held: readonly HeldMoney[],
  since?: CheckedPosition,
): Promise<readonly AccountDifference[]> {
  const promised = held.map(
    ({ purpose, rows: text }) =>
      `union all select 'held:' || h.account_id || ':${purpose}', 0, h.amount_cents from (${text}) h`,
  )
  const [moved, users, ofUsers] =
    since === undefined
      ? ['', "substr(a.id, 1, 5) = 'user:'", '']
      : [
          `with moved as materialized (${MOVED}) `,
          "a.id in (select 'user:' || account_id from moved)",
          ' where account_id in (select account_id from moved)',
        ]
  const text = `${moved}select account, sum(ledger) as ledger, sum(booked) as booked from (
      select a.id as account, a.balance_cents + (select coalesce(sum(t.amount_cents), 0) from gw_ledger_tail t
          where t.account_id = a.account_id and t.ledger_account = a.id) as ledger, 0 as booked
        from gw_ledger_accounts a where ${users} or substr(a.id, 1, 5) = 'held:'
      union all select 'user:' || account_id, 0, ${SIGNED_TRANSACTION} from gw_transactions${ofUsers}
      ${promised.join('\n')}
    ) d group by account having sum(ledger) <> sum(booked) order by account limit 100`
  return (await rows(db, text, since === undefined ? [] : [since])).map(row => ({
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
