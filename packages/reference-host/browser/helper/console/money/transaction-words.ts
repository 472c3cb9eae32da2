import { shortened } from '../../../shared/address.ts'
import { money } from '../../../shared/money.ts'
import type { Transaction } from '../wire.ts'

/** An address of any network: a long word of letters and digits. */
const ADDRESS = /\b[0-9A-Za-z]{26,}\b/g

/** The amount with its sign: money that left the balance has a minus. */
export const signed = ({ direction, amountCents }: Transaction): string =>
  direction === 'debit' ? money(-amountCents) : `+${money(amountCents)}`

/** What a transaction is, in one line: the merchant, or else a description that says to whom and what for. */
export const transactionName = ({ merchant, description }: Transaction): string =>
  merchant ?? description.replace(ADDRESS, shortened)

/** To whom or from whom, and what for; empty if the name says it all. `key` is the name of the key that caused it. */
export function transactionDetail(
  { counterparty, memo, merchant, merchantDetails, direction, description }: Transaction,
  key?: string,
): string {
  const other =
    counterparty && `${direction === 'debit' ? 'to' : 'from'} ${shortened(counterparty.walletAddress)}`
  const place = merchantDetails && [merchantDetails.city, merchantDetails.country].filter(Boolean).join(', ')
  return [merchant !== null && description, place, other, memo && `“${memo}”`, key && `Key ${key}`]
    .filter(Boolean)
    .join(' · ')
}
