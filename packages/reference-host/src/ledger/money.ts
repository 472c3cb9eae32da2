import type { EpochMs } from '@gatewright/kernel'
import { rows, toText, type SqlQueries } from '@gatewright/kernel/sql'
import { ownerOf } from './accounts.ts'
import type { Ledger, Transfer, TransferResult } from './ledger.ts'
import type { TransactionEntry, TransactionStore } from './transactions.ts'

/** Moves money together with the transaction rows that tell the accounts about it. */
export interface Money {
  /**
   * Moves money as `Ledger.transfer` does and, with the result `done`, writes the transaction rows. Take locks in the order business
   * row, caps, ledger. Throws a `TypeError` if the balance of a user changes and no entry is for that account.
   */
  move(
    tx: SqlQueries,
    transfer: Transfer,
    entries: readonly TransactionEntry[],
    now: EpochMs,
  ): Promise<TransferResult>
}

/** Makes the one place that moves money. */
export function createMoney(ledger: Ledger, transactions: TransactionStore): Money {
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
const DIFFERENCES = `select account from (
    select a.id as account, a.balance_cents + (select coalesce(sum(t.amount_cents), 0) from gw_ledger_tail t
        where t.account_id = a.id) as cents
      from gw_ledger_accounts a where substr(a.id, 1, 5) in ('user:', 'held:')
    union all select 'user:' || account_id, -(${SIGNED_TRANSACTION}) from gw_transactions
    union all select 'held:' || account_id || ':cards', -amount_cents from gw_authorizations
      where status = 'authorized'
    union all select 'held:' || account_id || ':withdrawals', -amount_cents from gw_withdrawals
      where status in ('pending', 'ready')
  ) d group by account having sum(cents) <> 0 order by account limit 100`

/**
 * Compares the ledger with the business rows: each balance with the transactions of its account, and each `held:` account with the open
 * authorizations or withdrawals. Returns at most 100 ledger accounts that differ. Reads everything, in one statement.
 */
export async function accountsThatDiffer(db: SqlQueries): Promise<readonly string[]> {
  return (await rows(db, DIFFERENCES)).map(row => toText(row['account']))
}
