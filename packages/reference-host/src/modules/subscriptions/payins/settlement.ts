import { allow, type EpochMs, type Verdict } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import type { Guard, SpendHold, SpendStorage } from '@gatewright/scope-guard'
import { deny, type HostDenial } from '../../../http/codes.ts'
import { ledgerAccounts } from '../../../ledger/accounts.ts'
import type { Debit, Ledger } from '../../../ledger/ledger.ts'
import type { SubscriptionStore } from '../subscription-store.ts'
import type { PayinStore } from './payin-store.ts'
import type { Payin, PayTo, SeenTransfer } from './payin.ts'

/** What settlement are made of. */
interface SettlementServices {
  readonly payins: PayinStore
  readonly subscriptions: SubscriptionStore
  readonly ledger: Ledger
  readonly guard: Guard
  readonly spendStorage: (tx: SqlQueries) => SpendStorage
}

/**
 * How pay-ins end: each takes a pay-in that its caller has locked in `tx`, and moves money, caps and state together. Locks are
 * taken in one order everywhere: pay-in, caps, ledger. Faults: `ERR_STORE_*`.
 */
export interface PayinSettlement {
  /**
   * Pays from the account's balance. Whoever pays is the spender: the hold of whoever asked for the pay-in is released, and
   * `reserve` holds the amount under the payer's policies, on the day of the payment. Denials, after which the caller must
   * roll `tx` back: those of `reserve`, and `invalid_request` where the balance is too small.
   */
  payFromBalance(
    tx: SqlQueries,
    payin: Payin,
    reserve: () => Promise<Verdict<SpendHold>>,
    now: EpochMs,
  ): Promise<Verdict<Payin>>
  /** A matching transfer has its confirmations. */
  settleOnChain(tx: SqlQueries, payin: Payin, transfer: SeenTransfer, now: EpochMs): Promise<Payin>
  /** Gives it up: the caps get back what was held. */
  close(
    tx: SqlQueries,
    payin: Payin,
    cause: 'deadline_passed' | 'payment_invalid' | 'canceled',
    now: EpochMs,
  ): Promise<Payin>
}

const insufficientBalance: HostDenial = deny(
  'invalid_request',
  'this pay-in costs more than the balance holds: fund the balance first',
  { field: 'payinId' },
)

/** Pay-in settlement over the host's stores. */
export function payinSettlement(services: SettlementServices): PayinSettlement {
  const { payins, subscriptions, ledger, guard, spendStorage } = services

  /** Moves the money; false where the payer has too little. */
  const moveMoney = async (
    tx: SqlQueries,
    { id, planId, subscriptionId, accountId, amountCents }: Payin,
    from: Debit,
    now: EpochMs,
  ): Promise<boolean> => {
    // An open pay-in fills the balance; anything else buys something.
    const credit = planId === null ? ledgerAccounts.user(accountId) : ledgerAccounts.revenue
    const moved = await ledger.transfer(
      tx,
      { ...from, id: `payin:${id}`, credit, amountCents, cause: 'payin' },
      now,
    )
    if (moved === 'insufficient') return false
    if (moved !== 'done') throw new Error(`pay-in ${id} was open, but the ledger already has it: ${moved}`)
    if (subscriptionId !== null) await subscriptions.extend(tx, subscriptionId, now)
    return true
  }

  return {
    async payFromBalance(tx, payin, reserve, now) {
      if (payin.hold.held) await guard.release(payin.hold, spendStorage(tx))
      const hold = await reserve()
      if (!hold.ok) return hold
      const { value: cover } = hold
      if (cover.held) await guard.settle(cover, undefined, spendStorage(tx))
      const debit = ledgerAccounts.user(payin.accountId)
      if (!(await moveMoney(tx, payin, { debit, cover }, now))) return insufficientBalance
      return allow(await payins.move(tx, payin, 'paid_from_balance', { method: 'balance' }, now))
    },
    async settleOnChain(tx, payin, seen, now) {
      const { chainId, token } = payin.payTo as PayTo
      // What was held is spent. A hold that is gone was ended by an operator before: the counters stay as they are.
      if (payin.hold.held) await guard.settle(payin.hold, undefined, spendStorage(tx))
      // The chain's account stands for the outside world and may go below zero.
      await moveMoney(tx, payin, { debit: ledgerAccounts.chain(chainId, token) }, now)
      return payins.move(tx, payin, 'paid_on_chain', { seen, detail: seen.txHash }, now)
    },
    async close(tx, payin, cause, now) {
      if (payin.hold.held) await guard.release(payin.hold, spendStorage(tx))
      return payins.move(tx, payin, cause, {}, now)
    },
  }
}
