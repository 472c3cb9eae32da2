import type { SqlQueries } from '@gatewright/kernel/sql'
import * as Type from 'typebox/type'
import { component, instant, text, textOrNull } from '@gatewright/host/schemas'
import { DEPOSIT_STATUSES } from '../../providers/deposits/port.ts'
import * as examples from '../examples.ts'
import type { Deposit } from './deposit.ts'
import { MAX_PAYMENTS } from './payments.ts'
import type { DepositRecords } from './records.ts'

const Payment = Type.Object(
  {
    id: text("The provider's id of the payment"),
    creditedCents: Type.Integer({ minimum: 1, description: 'What was credited, in cents' }),
    at: instant('When it was credited'),
  },
  component('DepositPayment', 'A payment that was credited'),
)
/** Schema of a deposit in responses. */
export const DepositSchema = Type.Object(
  {
    id: text('The id of the deposit'),
    contractId: Type.Null({ description: 'Always null; kept for existing clients' }),
    changeNowId: text("The provider's own id of the deposit"),
    fromCurrency: text('The asset to send'),
    fromNetwork: text('The network to send it on'),
    minAmount: text('The smallest amount that is credited'),
    maxAmount: textOrNull('The largest amount; null for no limit'),
    depositAddress: text('Where to send it'),
    payinExtraId: textOrNull('The memo or tag that the payment must name'),
    chainId: Type.Union([Type.Integer(), Type.Null()], { description: 'EIP-155 chain id' }),
    status: Type.Enum([...DEPOSIT_STATUSES]),
    creditedCents: Type.Integer({ minimum: 0, description: 'The sum of all payments, in cents' }),
    payments: Type.Array(Payment, {
      maxItems: MAX_PAYMENTS,
      description: 'The last 20, oldest first',
    }),
    createdAt: instant('When it was made'),
    updatedAt: instant('When its state last changed'),
  },
  component('Deposit', 'An address of a provider, and what was paid to it'),
)
export const DepositResponse = Type.Object(
  { deposit: DepositSchema },
  component('DepositResponse', 'A deposit'),
)

export const depositExample = {
  id: 'dep_4b1f6a7e',
  contractId: null,
  changeNowId: 'sandbox-dep_4b1f6a7e',
  fromCurrency: 'usdc',
  fromNetwork: 'base',
  minAmount: '1',
  maxAmount: '50000',
  depositAddress: examples.WALLET,
  payinExtraId: null,
  chainId: 8453,
  status: 'completed' as const,
  creditedCents: 2500,
  createdAt: examples.AT,
  updatedAt: examples.LATER,
  payments: [{ id: 'pay_1', creditedCents: 2500, at: examples.LATER }],
}

/** Converts deposits with their payments for responses. */
export async function depositsData(records: DepositRecords, db: SqlQueries, deposits: readonly Deposit[]) {
  const payments = await records.payments(db, deposits)
  return deposits.map(deposit => {
    const { creditedCents = 0, last = [] } = payments.get(deposit.id) ?? {}
    return {
      id: deposit.id,
      contractId: null,
      changeNowId: deposit.reference,
      fromCurrency: deposit.currency,
      fromNetwork: deposit.network,
      minAmount: deposit.minAmount,
      maxAmount: deposit.maxAmount,
      depositAddress: deposit.depositAddress,
      payinExtraId: deposit.extraId,
      chainId: deposit.chainId,
      status: deposit.status,
      creditedCents,
      payments: last.map(({ at, ...payment }) => ({ ...payment, at: new Date(at).toISOString() })),
      createdAt: new Date(deposit.createdAt).toISOString(),
      updatedAt: new Date(deposit.updatedAt).toISOString(),
    }
  })
}

/** Makes the data of a response with one deposit. */
export async function depositData(records: DepositRecords, db: SqlQueries, deposit: Deposit) {
  return { deposit: (await depositsData(records, db, [deposit]))[0] }
}
