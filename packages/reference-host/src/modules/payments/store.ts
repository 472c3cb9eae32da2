import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toText } from '@gatewright/kernel/internal/sql'
import { pageSql, type PageOf } from '@gatewright/host/tables'
import { transactionTable } from '@gatewright/host/internal'
import type { Transaction } from '@gatewright/host'

// A payment has no table: it consists of two transactions with one id, the parts `sent` and `received`, each with the wallet of
// the other side.
const PAYMENTS = "where account_id = $1 and source_kind = 'payment'"

/** Finds a payment that an account has sent. */
export async function findSent(
  db: SqlQueries,
  accountId: string,
  id: string,
): Promise<Transaction | undefined> {
  // The kind is a parameter: as a text in the statement it would let Postgres read all payments of the account by the index of their list.
  const sent = "where account_id = $1 and source_kind = $2 and source_id = $3 and part = 'sent'"
  return (await transactionTable.select(db, sent, [accountId, 'payment', id]))[0]
}

/** Reads a page of what an account sent and received, newest first. */
export function paymentPage(
  db: SqlQueries,
  accountId: string,
  page: PageOf,
): Promise<readonly Transaction[]> {
  const values = [accountId]
  return transactionTable.select(db, PAYMENTS + pageSql(page, values), values)
}

/** A user who signed with a wallet. */
interface WalletUser {
  readonly accountId: string
  /** Whether the wallet is a contract: its address can then have another owner on another chain. */
  readonly isContract: boolean
}

/**
 * Finds the wallet users with an address, in lower case. There are several if the address has signed both as a key and as a
 * contract, or as contracts on two chains. An address that a partner gave for its user is unverified, so it is not found.
 */
export async function usersOfWallet(db: SqlQueries, walletAddress: string): Promise<readonly WalletUser[]> {
  const text = 'select account_id, wallet from gw_wallets where address = $1'
  return (await rows(db, text, [walletAddress])).map(row => ({
    accountId: toText(row['account_id']),
    isContract: row['wallet'] !== walletAddress,
  }))
}
