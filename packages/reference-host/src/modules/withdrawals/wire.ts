import type { Surface } from '@gatewright/kernel/internal'
import * as Type from 'typebox/type'
import { component, instant, text, textOrNull } from '@gatewright/host/schemas'
import { WITHDRAWAL_STATUSES } from '../../providers/withdrawals/port.ts'
import * as examples from '../examples.ts'
import { DestinationBody } from './destination.ts'
import type { Withdrawal } from './withdrawal.ts'

const Relay = Type.Object(
  {
    changeNowId: text("The provider's own id of the withdrawal"),
    payinAddress: textOrNull('The address through which the provider sends'),
    payinExtraId: textOrNull('Its memo or tag'),
    payoutAddress: text('The address that receives'),
    payoutExtraId: textOrNull('Its memo or tag'),
    fromCurrency: text('What leaves the balance'),
    fromNetwork: text('Always `balance`'),
    toCurrency: text('What arrives'),
    toNetwork: text('The network on which it arrives'),
  },
  component('WithdrawalRelay', 'How the provider sends the money'),
)
const members = {
  id: text('Names the withdrawal'),
  status: Type.Enum([...WITHDRAWAL_STATUSES]),
  retryAfterSeconds: Type.Union([Type.Integer(), Type.Null()], {
    description: 'When to ask again; null once it is handed over or has ended',
  }),
  attention: textOrNull('`outcome_unknown` while nobody knows whether the provider took it'),
  amountCents: Type.Integer({ description: 'What leaves the balance, fee included, in cents' }),
  feeCents: Type.Integer({ minimum: 0, description: 'The fee, in cents' }),
  destination: DestinationBody,
  parameters: Type.Array(Type.Unknown(), { maxItems: 0, description: 'Kept for existing clients' }),
  signature: Type.Null(),
  execution: Type.Null(),
  expiresAt: Type.Null(),
  relay: Type.Union([Relay, Type.Null()]),
  txHash: textOrNull('The transaction that paid it'),
  reason: textOrNull('Why it failed'),
  createdAt: instant('When it was made'),
  updatedAt: instant('When its state last changed'),
}
/** Schema of a withdrawal on the user surface. */
export const WithdrawalSchema = Type.Object(
  members,
  component('Withdrawal', 'Money on its way out of the account'),
)
/** Schema of the response of `withdrawals.create`, by surface. */
export const WithdrawalResponse = {
  user: Type.Object({ withdrawal: WithdrawalSchema }, component('WithdrawalResponse', 'A withdrawal')),
  partner: Type.Object(
    {
      ...members,
      status: Type.Enum(['pending', 'ready'], { description: '`ready` also when it is completed' }),
      state: Type.Enum([...WITHDRAWAL_STATUSES]),
      repeated: Type.Boolean({ description: 'Whether this request was a poll of an earlier withdrawal' }),
    },
    component('PartnerWithdrawal', 'Money on its way out of the account'),
  ),
} as const

/** Converts a withdrawal for responses. */
export function withdrawalData(withdrawal: Withdrawal) {
  const { id, status, attention, amountCents, feeCents, destination, relay, txHash, reason } = withdrawal
  const { currency, network, address, extraId } = destination
  return {
    id,
    status,
    attention,
    amountCents,
    feeCents,
    destination,
    txHash,
    reason,
    retryAfterSeconds: status === 'pending' ? 1 : null,
    parameters: [],
    signature: null,
    execution: null,
    expiresAt: null,
    relay: relay && {
      changeNowId: relay.reference,
      payinAddress: relay.payinAddress,
      payinExtraId: relay.payinExtraId,
      payoutAddress: address,
      payoutExtraId: extraId,
      fromCurrency: 'usd',
      fromNetwork: 'balance',
      toCurrency: currency,
      toNetwork: network,
    },
    createdAt: new Date(withdrawal.createdAt).toISOString(),
    updatedAt: new Date(withdrawal.updatedAt).toISOString(),
  }
}

/** Makes the data of a response with a withdrawal: partners get the members in `data` itself. */
export function withdrawalResponse(
  surface: Surface,
  withdrawal: Withdrawal,
  repeated: boolean,
): Record<string, unknown> {
  const data = withdrawalData(withdrawal)
  if (surface === 'user') return { withdrawal: data }
  const status = data.status === 'pending' ? 'pending' : 'ready'
  return { ...data, status, state: data.status, repeated }
}

const destination = { currency: 'usdc', network: 'base', address: examples.WALLET, extraId: null }
/** A new withdrawal, in examples. */
export const withdrawalExample = {
  id: 'wd_9c2f6a7e',
  status: 'pending' as const,
  retryAfterSeconds: 1,
  attention: null,
  amountCents: 2500,
  feeCents: 50,
  destination,
  parameters: [],
  signature: null,
  execution: null,
  expiresAt: null,
  relay: null,
  txHash: null,
  reason: null,
  createdAt: examples.AT,
  updatedAt: examples.AT,
}
export const withdrawalBodyExample = {
  amountCents: 2500,
  destination: { currency: 'usdc', network: 'base', address: examples.WALLET },
}
