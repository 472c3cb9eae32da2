import { allow, type Verdict, type EpochMs } from '@gatewright/kernel'
import { ledgerAccounts } from '../../ledger/accounts.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Money } from '../../ledger/money.ts'
import type { TransactionEntry } from '../../ledger/transactions.ts'
import type { WriteContext } from './operation.ts'
import { tooLittleMoney } from './too-little-money.ts'

/** The services that a payment needs. */
export interface PaymentServices {
  readonly money: Money
  readonly ledger: Ledger
}

/** A payment from a balance that is complete when the host responds to its request. */
export interface ImmediatePayment {
  /** Identifies the transfer in the ledger. */
  readonly id: string
  readonly accountId: string
  readonly credit: string
  readonly amountCents: number
  /** Who is paid: the names by which policies may know the payee. */
  readonly payee: string | readonly string[]
  readonly cause: string
  /** The transactions that show it to accounts. */
  readonly entries: readonly TransactionEntry[]
}

/**
 * Pays from the caller's balance: counts the amount as spent under the caller's caps and moves the money, in the caller's
 * transaction, with locks in the order caps, ledger. Denials, after which `tx` must be rolled back: `policy_blocked`, and
 * `insufficient_balance`.
 */
export async function payAtOnce(
  { money, ledger }: PaymentServices,
  { tx, reserve }: Pick<WriteContext, 'tx' | 'reserve'>,
  { accountId, entries, payee, ...payment }: ImmediatePayment,
  now: EpochMs,
): Promise<Verdict<undefined>> {
  const { id, amountCents } = payment
  const spent = await reserve({ amountCents, currency: 'USD', payee, isSpent: true })
  if (!spent.ok) return spent
  const debit = ledgerAccounts.user(accountId)
  const result = await money.move(tx, { ...payment, debit, cover: spent.value }, entries, now)
  if (result === 'insufficient') return tooLittleMoney(await ledger.balance(tx, debit), amountCents)
  if (result !== 'done') throw new Error(`${id} was not paid before, but the ledger has it: ${result}`)
  return allow(undefined)
}
