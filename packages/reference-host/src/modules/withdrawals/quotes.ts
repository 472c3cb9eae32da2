import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { component, idText, text, textOrNull } from '@gatewright/host/schemas'
import { type Operation, operation } from '@gatewright/host'
import { deny } from '../../product/denials.ts'
import { formatDollars } from '../../providers/decimal.ts'
import type { WithdrawalProvider } from '../../providers/withdrawals/port.ts'
import {
  assetMembers,
  assetsOperation,
  estimateData,
  estimateMembers,
  findAsset,
  noSignal,
  quoted,
  rangeData,
  rangeMembers,
} from '../assets.ts'
import * as examples from '../examples.ts'
import { outsideCents } from './terms.ts'

const RangeBody = Type.Object(
  { destination: Type.Object(assetMembers) },
  component('WithdrawalRangeRequest', 'Which asset to withdraw'),
)
const limits = {
  minAmountCents: Type.Integer({ description: 'The smallest amount, fee included, in cents' }),
  maxAmountCents: Type.Union([Type.Integer(), Type.Null()], {
    description: 'The largest; null for no limit',
  }),
  destinationSupportsExtraId: Type.Boolean({ description: 'Whether an address can have a memo or tag' }),
}
const RangeResponse = Type.Object(
  {
    range: Type.Object({ ...rangeMembers, ...limits }, component('WithdrawalRange', 'What can be withdrawn')),
  },
  component('WithdrawalRangeResponse', 'What can be withdrawn'),
)
const EstimateBody = Type.Object(
  {
    amountCents: Type.Integer({ minimum: 1, maximum: 100_000_000, description: 'US cents, fee included' }),
    destination: Type.Object({
      ...assetMembers,
      extraId: Type.Optional(Type.Union([idText(64), Type.Null()])),
    }),
  },
  component('WithdrawalEstimateRequest', 'How much to withdraw'),
)
const EstimateResponse = Type.Object(
  {
    estimate: Type.Object(
      {
        ...estimateMembers,
        ...limits,
        fromAmount: text('What leaves the balance, in dollars'),
        fromAmountCents: Type.Integer({ description: 'What leaves the balance, in cents' }),
        destinationExtraId: textOrNull('The memo or tag of the request'),
      },
      component('WithdrawalEstimate', 'What a withdrawal would send'),
    ),
  },
  component('WithdrawalEstimateResponse', 'What a withdrawal would send'),
)
const asset = { currency: 'usdc', network: 'base' }
const exampleLimits = { minAmountCents: 100, maxAmountCents: 5_000_000, destinationSupportsExtraId: false }
const quote = {
  minAmount: '1',
  maxAmount: '50000',
  minAmountCents: 100,
  maxAmountCents: 5_000_000,
  toAmount: '24.5',
  feeCents: 50,
  rateId: 'fixed',
  validUntil: Date.parse(examples.LATER),
}
const lower = ({ currency, network }: { currency: string; network: string }) => ({
  currency: currency.toLowerCase(),
  network: network.toLowerCase(),
})

/** Makes the operations about assets, limits and prices of withdrawals. */
export function withdrawalQuotes(provider: WithdrawalProvider): Operation[] {
  const common = {
    surface: 'partner',
    credential: 'session',
    scopes: [],
    anyOf: ['withdrawals.write', 'deposits.read'],
  } as const
  const limitsOf = async (wanted: typeof asset, { minAmountCents, maxAmountCents }: typeof exampleLimits) => {
    const { currency, network } = wanted
    const found = findAsset(
      await provider.assets(noSignal),
      each => each.ticker === currency && each.network.id === network,
    )
    const destinationSupportsExtraId = found?.network.supportsExtraId ?? false
    return { minAmountCents, maxAmountCents, destinationSupportsExtraId }
  }
  return [
    assetsOperation(provider, {
      id: 'withdrawals.assets',
      title: 'List the assets that can be withdrawn',
      paths: ['/partner/v1/withdrawals/assets'],
      anyOf: common.anyOf,
    }),
    operation({
      ...common,
      id: 'withdrawals.range',
      title: 'Read the limits of a withdrawal',
      method: 'POST',
      paths: ['/partner/v1/withdrawals/range'],
      body: RangeBody,
      response: RangeResponse,
      example: {
        body: { destination: asset },
        response: { range: { ...rangeData(quote, asset, 'out'), ...exampleLimits } },
      },
      async handle({ body: { destination } }) {
        const wanted = lower(destination)
        const found = await quoted(provider, wanted, 'destination.currency')
        if (!found.ok) return found
        const range = {
          ...rangeData(found.value, wanted, 'out'),
          ...(await limitsOf(wanted, found.value as never)),
        }
        return allow({ data: { range }, summary: 'What can be withdrawn.' })
      },
    }),
    operation({
      ...common,
      id: 'withdrawals.estimate',
      title: 'Estimate what a withdrawal sends',
      method: 'POST',
      paths: ['/partner/v1/withdrawals/estimate'],
      body: EstimateBody,
      response: EstimateResponse,
      example: {
        body: { amountCents: 2500, destination: asset },
        response: {
          estimate: {
            ...estimateData(quote, asset, 'out'),
            ...exampleLimits,
            fromAmount: '25.00',
            fromAmountCents: 2500,
            destinationExtraId: null,
          },
        },
      },
      async handle({ body: { amountCents, destination } }) {
        const wanted = lower(destination)
        const found = await quoted(provider, { ...wanted, amountCents }, 'destination.currency')
        if (!found.ok) return found
        const outside = outsideCents(amountCents, found.value)
        if (outside) return outside
        const extra = await limitsOf(wanted, found.value as never)
        const { extraId = null } = destination
        if (extraId !== null && !extra.destinationSupportsExtraId)
          return deny('invalid_request', 'destination.extraId must be left out: the network has none', {
            field: 'destination.extraId',
          })
        const estimate = {
          ...estimateData(found.value, wanted, 'out'),
          ...extra,
          fromAmount: formatDollars(amountCents),
          fromAmountCents: amountCents,
          destinationExtraId: extraId,
        }
        const summary = `About ${estimate.estimatedToAmount} ${wanted.currency} arrive.`
        return allow({ data: { estimate }, summary })
      },
    }),
  ]
}
