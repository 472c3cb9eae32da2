import type { EpochMs } from '@gatewright/kernel'
import { rows, toInteger, toText, type SqlQueries } from '@gatewright/kernel/sql'
import { ownerOf } from './accounts.ts'
import type { Ledger, Transfer, TransferResult } from './ledger.ts'
import { transactions, type TransactionEntry } from './transactions.ts'

/** Moves money and writes the transaction rows that show the movement to the accounts. */
export interface Money {
  /**
   * Moves money as `Ledger.transfer` does and, with the result `done`, writes the transaction rows. Take locks in the order
   * business row, caps, ledger. Throws a `TypeError` if the balance of a user changes and none of the entries is for that user.
   */
  move(
    tx: SqlQueries,
    transfer: Transfer,
    entries: readonly TransactionEntry[],
    now: EpochMs,
  ): Promise<TransferResult>
}

/** Makes the only functions by which the host moves money. */
export function createMoney(ledger: Ledger): Money {
  return {
    async move(tx, transfer, entries, now) {
      for (const account of [transfer.debit, transfer.credit]) {
        const owner = account.startsWith('user:') ? ownerOf(account) : undefined
        if (owner !== undefined && !entries.some(({ accountId }) => accountId === owner))
          throw new TypeError(`transfer ${transfer.id} changes ${account} without a transaction row`)
      }
      const result = await ledger.transfer(tx, transfer, now)
      if (result !== 'done') return result
      for (const entry of entries) await transactions.write(tx, entry, now)
      return result
    },
  }
}

const SIGNED_TRANSACTION = `case when direction = 'credit' and status = 'completed' then amount_cents
  when direction = 'debit' and status in ('pending', 'completed') then -amount_cents else 0 end`
const DIFFERENCES = `select account, sum(ledger) as ledger, sum(booked) as booked from (
    select a.id as account, a.balance_cents + (select coalesce(sum(t.amount_cents), 0) from gw_ledger_tail t
        where t.account_id = a.id) as ledger, 0 as booked
      from gw_ledger_accounts a where substr(a.id, 1, 5) in ('user:', 'held:')
    union all select 'user:' || account_id, 0, ${SIGNED_TRANSACTION} from gw_transactions
    union all select 'held:' || account_id || ':cards', 0, amount_cents from gw_authorizations
      where status = 'authorized'
    union all select 'held:' || account_id || ':withdrawals', 0, amount_cents from gw_withdrawals
      where status in ('pending', 'ready')
  ) d group by account having sum(ledger) <> sum(booked) order by account limit 100`

/** A ledger account whose balance is not the sum of its business rows. */
interface AccountDifference {
  readonly account: string
  readonly ledgerCents: number
  /** The sum of the transactions, open authorizations or open withdrawals. */
  readonly bookedCents: number
}

/**
 * Compares the ledger with the business rows: each balance with the transactions of its account, and each `held:` account with the open
 * authorizations or withdrawals. Returns at most 100 differences. Reads everything, in one statement.
 */
export async function accountsThatDiffer(db: SqlQueries): Promise<readonly AccountDifference[]> {
  return (await rows(db, DIFFERENCES)).map(row => ({
    account: toText(row['account']),
    ledgerCents: toInteger(row['ledger']),
    bookedCents: toInteger(row['booked']),
  }))
}

/** Describes a difference in a sentence. */
export function describeDifference({ account, ledgerCents, bookedCents }: AccountDifference): string {
  const what = account.endsWith(':cards')
    ? 'open card authorizations'
    : account.endsWith(':withdrawals')
      ? 'open withdrawals'
      : 'transactions'
  return `${account} has ${ledgerCents} US cents in the ledger, but the ${what} of ${ownerOf(account)} add up to ${bookedCents}`
}
