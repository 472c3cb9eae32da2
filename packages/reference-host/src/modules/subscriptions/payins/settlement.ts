import { allow, type Verdict, type EpochMs } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import type { Guard, SpendHold, SpendStorage } from '@gatewright/scope-guard'
import { type Money, events, type TransactionEntry, type HostDenial } from '@gatewright/host'
import { type Debit, type SystemAccount, ledgerAccounts } from '@gatewright/host/internal'
import { deny } from '../../../product/denials.ts'
import { systemAccounts } from '../../../product/system-accounts.ts'
import { subscriptions } from '../subscription-store.ts'
import { payins, type PayinChange } from './payin-store.ts'
import type { Payin, PayTo, SeenTransfer } from './payin.ts'
import type { PayinCause } from './states.ts'

/** The stores and services that settlement needs. */
interface SettlementServices {
  readonly money: Money
  readonly guard: Guard
  readonly spendStorage: (tx: SqlQueries) => SpendStorage
}

/**
 * Settles and closes pay-ins. Each function needs a pay-in that is locked in `tx`, and changes money, caps and status together.
 * Locks are always taken in the order pay-in, caps, ledger. Faults: `ERR_STORE_*`.
 */
export interface PayinSettlement {
  /**
   * Pays from the account's balance. The caller who pays is the spender: the hold of whoever requested the
   * pay-in is released, and `payer.reserve` counts the amount as spent under the payer's policies on the day of payment.
   * Denials, after which the caller must roll back `tx`: those of `payer.reserve`, and `invalid_request` when the
   * balance is too small.
   */
  payFromBalance(
    tx: SqlQueries,
    payin: Payin,
    payer: { readonly keyId: string; reserve(): Promise<Verdict<SpendHold>> },
    now: EpochMs,
  ): Promise<Verdict<Payin>>
  /** Settles with a matching transfer that has its confirmations. */
  settleOnChain(tx: SqlQueries, payin: Payin, transfer: SeenTransfer, now: EpochMs): Promise<Payin>
  /** Settles with play money in a sandbox, as if a transfer had arrived. The pay-in has no transfer that was seen on a chain. */
  settleWithPlayMoney(tx: SqlQueries, payin: Payin, now: EpochMs): Promise<Payin>
  /** Closes an unpaid pay-in and releases its hold. */
  close(
    tx: SqlQueries,
    payin: Payin,
    cause: 'deadline_passed' | 'payment_invalid' | 'canceled',
    now: EpochMs,
  ): Promise<Payin>
}

/**
 * Makes the transaction rows of a paid pay-in. If it is paid on chain and buys a plan, the balance does not change, and there
 * are none.
 */
function entriesOf(
  { id, planId, accountId, amountCents, keyId, description }: Payin,
  from: Debit,
): TransactionEntry[] {
  const source = { kind: 'payin', id }
  const common = { accountId, source, type: 'payment', status: 'completed', amountCents, keyId } as const
  const of = description === null ? '' : ` · ${description}`
  if (planId === null)
    return [{ ...common, direction: 'credit', description: `Payment into the balance${of}` }]
  const paidFromBalance = from.cover !== undefined
  return paidFromBalance ? [{ ...common, direction: 'debit', description: `Plan ${planId}${of}` }] : []
}

const insufficientBalance: HostDenial = deny(
  'invalid_request',
  'this pay-in costs more than the balance holds: fund the balance first',
  { field: 'payinId' },
)

/** Creates the settlement over the host's stores. */
export function payinSettlement(services: SettlementServices): PayinSettlement {
  const { money, guard, spendStorage } = services

  /** Moves the money; false when the balance is too small. */
  const moveMoney = async (tx: SqlQueries, payin: Payin, from: Debit, now: EpochMs): Promise<boolean> => {
    const { id, planId, subscriptionId, accountId, amountCents } = payin
    // A pay-in without a plan fills the balance; others buy something.
    const credit = planId === null ? ledgerAccounts.user(accountId) : systemAccounts.revenue
    const transfer = { ...from, id: `payin:${id}`, accountId, credit, amountCents, cause: 'payin' }
    const result = await money.move(tx, transfer, entriesOf(payin, from), now)
    if (result === 'insufficient') return false
    if (result !== 'done') throw new Error(`pay-in ${id} was open, but the ledger already has it: ${result}`)
    if (subscriptionId !== null) await subscriptions.extend(tx, accountId, subscriptionId, now)
    return true
  }

  /** Records the last move of a pay-in, and the event that notifies its account. */
  const end = async (
    tx: SqlQueries,
    payin: Payin,
    cause: PayinCause,
    change: PayinChange,
  ): Promise<Payin> => {
    const ended = await payins.move(tx, payin, cause, change)
    const { id, status: to, accountId, amountCents } = ended
    const event = { accountId, subject: { kind: 'payin', id }, from: payin.status, to, cause, amountCents }
    await events.record(tx, event, change.now)
    return ended
  }

  /** Settles with money from outside. The account of where it comes from may go below zero. */
  const settleFromOutside = async (
    tx: SqlQueries,
    payin: Payin,
    debit: SystemAccount,
    { cause, ...change }: PayinChange & { readonly cause: PayinCause },
  ): Promise<Payin> => {
    // Counts the hold as spent. An operator may have ended the hold before; the counters then stay
    // unchanged.
    if (payin.hold.held) await guard.settle(payin.hold, undefined, spendStorage(tx))
    await moveMoney(tx, payin, { debit }, change.now)
    return end(tx, payin, cause, change)
  }

  return {
    async payFromBalance(tx, payin, { keyId, reserve }, now) {
      if (payin.hold.held) await guard.release(payin.hold, spendStorage(tx))
      const spent = await reserve()
      if (!spent.ok) return spent
      const debit = ledgerAccounts.user(payin.accountId)
      const from = { debit, cover: spent.value }
      if (!(await moveMoney(tx, { ...payin, keyId }, from, now))) return insufficientBalance
      return allow(await end(tx, payin, 'paid_from_balance', { method: 'balance', now }))
    },
    settleOnChain(tx, payin, seen, now) {
      const { chainId, token } = payin.payTo as PayTo
      const debit = systemAccounts.chain(chainId, token)
      return settleFromOutside(tx, payin, debit, {
        cause: 'paid_on_chain',
        seen,
        detail: seen.txHash,
        now,
      })
    },
    settleWithPlayMoney(tx, payin, now) {
      return settleFromOutside(tx, payin, systemAccounts.sandbox, { cause: 'simulated', now })
    },
    async close(tx, payin, cause, now) {
      if (payin.hold.held) await guard.release(payin.hold, spendStorage(tx))
      return end(tx, payin, cause, { now })
    },
  }
}
