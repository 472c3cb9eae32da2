import { allow, type Verdict } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { component, idText } from '@gatewright/host/schemas'
import type { HostDenial } from '@gatewright/host'
import { chainIdInput } from '../../chain/chain-id.ts'
import type { PayinReceiver } from '../../chain/receivers.ts'
import { deny } from '../../product/denials.ts'
import type { NewWithdrawal, WithdrawalProvider } from '../../providers/withdrawals/port.ts'
import { noSignal, quoted } from '../assets.ts'
import {
  checkDestination,
  DestinationBody,
  fromOldForm,
  readDestination,
  type OldDestination,
} from './destination.ts'
import type { Withdrawal } from './withdrawal.ts'

const common = {
  amountCents: Type.Integer({
    minimum: 1,
    maximum: 100_000_000,
    description: 'What leaves the balance, fee included, in US cents',
  }),
}
/** The body of `withdrawals.create` by its surface. Partners may send the old form. */
export const Body = {
  user: Type.Object(
    { ...common, destination: DestinationBody },
    component('WithdrawalRequest', 'How much to send where'),
  ),
  partner: Type.Object(
    {
      ...common,
      destination: Type.Optional(DestinationBody),
      tokenAddress: Type.Optional(idText(128, 'With `recipientAddress` and `chainId`: the old form')),
      recipientAddress: Type.Optional(idText(128, 'The address that receives it, in the old form')),
      chainId: Type.Optional(chainIdInput('The chain of `tokenAddress` in the old form')),
    },
    component('PartnerWithdrawalRequest', 'How much to send where; the destination in one of two forms'),
  ),
}
type PartnerRequest = Type.Static<(typeof Body)['partner']>

/** The result of `prepare`: the terms of a new withdrawal, or the id of an existing one. */
export type PreparedWithdrawal = { readonly terms: NewWithdrawal } | { readonly existing: string }

type Terms = Pick<NewWithdrawal, 'amountCents' | 'destination'>

/** Returns a function that tells whether a withdrawal has the same amount and destination. */
export const isEqual =
  (wanted: Terms) =>
  ({ amountCents, destination }: Withdrawal): boolean =>
    amountCents === wanted.amountCents && JSON.stringify(destination) === JSON.stringify(wanted.destination)

/** Reads the request in either form, and checks the destination. */
export async function readTerms(
  provider: WithdrawalProvider,
  { amountCents, destination, tokenAddress, recipientAddress, chainId }: PartnerRequest,
): Promise<Verdict<Terms, HostDenial>> {
  if (destination) return allow({ amountCents, destination: readDestination(destination) })
  const old = { tokenAddress, recipientAddress, chainId }
  const missing = Object.entries(old).find(([, value]) => value === undefined)
  if (missing) {
    const field = tokenAddress === undefined ? 'destination' : missing[0]
    return deny('invalid_request', `${field} is required`, { field })
  }
  const read = fromOldForm(await provider.assets(noSignal), old as OldDestination)
  return read.ok ? allow({ amountCents, destination: read.value }) : read
}

/** Checks the destination and quotes the fee. */
export async function priced(
  {
    provider,
    receivers,
  }: { readonly provider: WithdrawalProvider; readonly receivers: readonly PayinReceiver[] },
  body: PartnerRequest,
  { amountCents, destination }: Terms,
): Promise<Verdict<PreparedWithdrawal, HostDenial>> {
  const given = body.destination?.address ?? body.recipientAddress
  const checked = checkDestination({ assets: await provider.assets(noSignal), receivers }, destination, given)
  if (!checked.ok) return checked
  const { currency, network } = destination
  const quote = await quoted(provider, { currency, network, amountCents }, 'destination.currency')
  if (!quote.ok) return quote
  const { feeCents } = quote.value
  const outside = outsideCents(amountCents, quote.value)
  return outside ?? allow({ terms: { amountCents, feeCents, destination } })
}

/** Denies an amount outside the limits of a quote, or one that does not exceed the fee. */
export function outsideCents(
  amountCents: number,
  {
    minAmountCents,
    maxAmountCents,
    feeCents,
  }: {
    readonly minAmountCents: number
    readonly maxAmountCents: number | null
    readonly feeCents: number
  },
): HostDenial | undefined {
  const least = Math.max(minAmountCents, feeCents + 1)
  if (amountCents >= least && (maxAmountCents === null || amountCents <= maxAmountCents)) return undefined
  return deny('invalid_request', `amountCents must be from ${least} to ${maxAmountCents ?? 'no limit'}`, {
    field: 'amountCents',
    details: { minAmountCents: least, maxAmountCents },
  })
}
