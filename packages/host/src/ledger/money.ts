import type { EpochMs } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import { ownerOf } from './accounts.ts'
import type { Ledger, Transfer, TransferResult } from './ledger.ts'
import { transactions, type TransactionEntry } from './transactions.ts'

/** Moves money together with the transaction rows that show it to the accounts. */
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
export function createMoney(ledger: Ledger): Money {
  return {
    async move(tx, transfer, entries, now) {
      for (const account of [transfer.debit, transfer.credit]) {
        const owner = account.startsWith('user:') ? ownerOf(account) : undefined
        if (owner !== undefined && !entries.some(({ accountId }) => accountId === owner))
          throw new TypeError(`transfer ${transfer.id} changes ${account} without a transaction row`)
      }
      const result = await ledger.transfer(tx, transfer, now)
      if (result === 'done') await transactions.writeAll(tx, entries, now)
      return result
    },
  }
}
