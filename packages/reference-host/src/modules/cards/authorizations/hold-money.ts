import type { SqlQueries } from '@gatewright/kernel/sql'
import type { SpendHold } from '@gatewright/scope-guard'
import { transactions, type Money, type TransactionEntry, type HostServices } from '@gatewright/host'
import { ledgerAccounts } from '@gatewright/host/internal'
import {
  decide,
  issuerReason,
  type CardAtNow,
  type CardOfAccount,
  type DecisionServices,
  type DeclineCause,
  type HeldAmount,
} from './decide.ts'
import type { DeclineReason } from './states.ts'

/** The services that hold money. */
export interface HoldServices extends DecisionServices {
  readonly ledger: HostServices['ledger']
  readonly money: Money
}

/**
 * Decides about an amount, reserves it under the caps of the card and moves it into the hold, with `entry` as the transaction
 * row of the account. A declined amount leaves neither caps nor money held, and neither does an amount of 0, which is an account check.
 * Lock the card before.
 */
export async function holdMoney(
  services: HoldServices,
  tx: SqlQueries,
  at: CardOfAccount,
  { amount, entry }: { readonly amount: HeldAmount; readonly entry: TransactionEntry },
): Promise<SpendHold | DeclineCause> {
  const hold = await decide(services, tx, at, amount)
  if ('reason' in hold) return hold
  const reason = await moveMoney(services, tx, at, { amount, hold, entry })
  if (!reason && amount.amountCents > 0) return hold
  if (hold.held) await services.guard.release(hold, services.spendStorage(tx))
  return reason ? { reason } : { ...hold, held: false }
}

/**
 * Moves the money into the hold. Returns why it cannot, after all other checks: the balance is too small, or the issuer
 * declines.
 */
async function moveMoney(
  { ledger, money }: HoldServices,
  tx: SqlQueries,
  { card, now }: CardAtNow,
  {
    amount,
    hold,
    entry,
  }: { readonly amount: HeldAmount; readonly hold: SpendHold; readonly entry: TransactionEntry },
): Promise<DeclineReason | undefined> {
  const { id, amountCents } = amount
  const debit = ledgerAccounts.user(card.accountId)
  const declined = issuerReason(card, amount)
  if (declined) return (await ledger.balance(tx, debit)) < amountCents ? 'insufficient_funds' : declined
  if (amountCents === 0) {
    await transactions.write(tx, entry, now)
    return undefined
  }
  const transfer = {
    id,
    debit,
    cover: hold,
    credit: ledgerAccounts.held(card.accountId, 'cards'),
    amountCents,
    cause: 'card_authorization',
  }
  const result = await money.move(tx, transfer, [entry], now)
  if (result === 'insufficient') return 'insufficient_funds'
  if (result !== 'done') throw new Error(`${id} is new, but its transfer is not: ${result}`)
  return undefined
}
