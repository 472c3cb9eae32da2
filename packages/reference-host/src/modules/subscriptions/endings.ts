import type { EpochMs } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import type { Guard, SpendStorage } from '@gatewright/scope-guard'
import { ledgerAccounts } from '../../ledger/accounts.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Payin, PayTo, SeenTransfer } from './payin.ts'
import type { PayinStore } from './payin-store.ts'
import type { SubscriptionStore } from './subscription-store.ts'

/** What endings are made of. */
export interface EndingServices {
  readonly payins: PayinStore
  readonly subscriptions: SubscriptionStore
  readonly ledger: Ledger
  readonly guard: Guard
  readonly spendStorage: (tx: SqlQueries) => SpendStorage
}

/**
 * How pay-ins end: each takes a pay-in that its caller has locked in `tx`, and moves money, caps and state together or not
 * at all. Faults: `ERR_STORE_*`.
 */
export interface PayinEndings {
  /** Pays from the account's balance; undefined, and nothing has changed, where that is too small. */
  paidFromBalance(tx: SqlQueries, payin: Payin, now: EpochMs): Promise<Payin | undefined>
  /** A matching transfer has its confirmations. */
  paidOnChain(tx: SqlQueries, payin: Payin, transfer: SeenTransfer, now: EpochMs): Promise<Payin>
  /** Gives it up: the caps get back what was held. */
  ended(
    tx: SqlQueries,
    payin: Payin,
    cause: 'deadline_passed' | 'payment_invalid' | 'canceled',
    now: EpochMs,
  ): Promise<Payin>
}

/** Pay-in endings over the host's stores. */
export function payinEndings(services: EndingServices): PayinEndings {
  const { payins, subscriptions, ledger, guard, spendStorage } = services

  /** Moves the money; false where the payer has too little. */
  const moveMoney = async (tx: SqlQueries, payin: Payin, debit: string, now: EpochMs): Promise<boolean> => {
    const { id, planId, subscriptionId, accountId, amountCents } = payin
    // An open pay-in fills the balance; anything else buys something.
    const credit = planId === null ? ledgerAccounts.user(accountId) : ledgerAccounts.revenue
    const transfer = { id: `payin:${id}`, debit, credit, amountCents, cause: 'payin' }
    const moved = await ledger.transfer(tx, transfer, now)
    if (moved === 'insufficient') return false
    if (moved !== 'done') throw new Error(`pay-in ${id} was open, and the ledger has it: ${moved}`)
    // What was held is spent. A hold that is gone has been ended before, by an operator: the counters stay as they are.
    if (payin.hold.held) await guard.settle(payin.hold, undefined, spendStorage(tx))
    if (subscriptionId !== null) await subscriptions.extend(tx, subscriptionId, now)
    return true
  }

  return {
    async paidFromBalance(tx, payin, now) {
      const paid = await moveMoney(tx, payin, ledgerAccounts.user(payin.accountId), now)
      if (!paid) return undefined
      return payins.move(tx, payin, 'paid_from_balance', { method: 'balance' }, now)
    },
    async paidOnChain(tx, payin, seen, now) {
      const { chainId, token } = payin.payTo as PayTo
      // The chain's account stands for the outside world and may go below zero.
      await moveMoney(tx, payin, ledgerAccounts.chain(chainId, token), now)
      return payins.move(tx, payin, 'paid_on_chain', { seen, detail: seen.txHash }, now)
    },
    async ended(tx, payin, cause, now) {
      if (payin.hold.held) await guard.release(payin.hold, spendStorage(tx))
      return payins.move(tx, payin, cause, {}, now)
    },
  }
}
