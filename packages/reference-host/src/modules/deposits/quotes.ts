import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { component, text } from '@gatewright/host/schemas'
import { type Operation, operation } from '@gatewright/host'
import { deny } from '../../product/denials.ts'
import type { DepositProvider } from '../../providers/deposits/port.ts'
import {
  Amount,
  amountText,
  assetMembers,
  assetsOperation,
  estimateData,
  estimateMembers,
  quoted,
  rangeData,
  rangeMembers,
} from '../assets.ts'
import * as examples from '../examples.ts'
import { isOutside } from './create.ts'

const RangeBody = Type.Object(assetMembers, component('DepositRangeRequest', 'Which asset to send'))
const RangeResponse = Type.Object(
  { range: Type.Object(rangeMembers, component('DepositRange', 'What can be deposited')) },
  component('DepositRangeResponse', 'What can be deposited'),
)
const EstimateBody = Type.Object(
  {
    ...assetMembers,
    amount: Amount,
    amountCurrency: Type.Optional(
      Type.Enum(['crypto', 'usd'], { description: 'What `amount` counts. Default: crypto' }),
    ),
  },
  component('DepositEstimateRequest', 'How much to send'),
)
const EstimateResponse = Type.Object(
  {
    estimate: Type.Object(
      {
        ...estimateMembers,
        quotedAmount: text('The amount of the request'),
        quotedAmountCurrency: Type.Enum(['crypto', 'usd']),
      },
      component(
        'DepositEstimate',
        'What a payment would credit. The credited cents are those of the payment itself',
      ),
    ),
  },
  component('DepositEstimateResponse', 'What a payment would credit'),
)
const asset = { currency: 'usdc', network: 'base' }
const quote = {
  minAmount: '1',
  maxAmount: '50000',
  minAmountCents: 100,
  maxAmountCents: 5_000_000,
  toAmount: '25.00',
  feeCents: 0,
  rateId: 'fixed',
  validUntil: Date.parse(examples.LATER),
}

/** Makes the operations about assets, limits and prices of deposits. */
export function depositQuotes(provider: DepositProvider): Operation[] {
  const common = { surface: 'partner', credential: 'session', scopes: [] } as const
  return [
    assetsOperation(provider, {
      id: 'deposits.assets',
      title: 'List the assets that can be deposited',
      paths: ['/partner/v1/deposits/assets'],
    }),
    operation({
      ...common,
      id: 'deposits.range',
      title: 'Read the limits of a deposit',
      method: 'POST',
      paths: ['/partner/v1/deposits/range'],
      body: RangeBody,
      response: RangeResponse,
      example: { body: asset, response: { range: rangeData(quote, asset, 'in') } },
      async handle({ body }) {
        const want = { currency: body.currency.toLowerCase(), network: body.network.toLowerCase() }
        const found = await quoted(provider, want, 'currency')
        if (!found.ok) return found
        return allow({
          data: { range: rangeData(found.value, want, 'in') },
          summary: 'What can be deposited.',
        })
      },
    }),
    operation({
      ...common,
      id: 'deposits.estimate',
      title: 'Estimate what a deposit credits',
      method: 'POST',
      paths: ['/partner/v1/deposits/estimate'],
      body: EstimateBody,
      response: EstimateResponse,
      example: {
        body: { ...asset, amount: '25' },
        response: {
          estimate: {
            ...estimateData(quote, asset, 'in'),
            quotedAmount: '25',
            quotedAmountCurrency: 'crypto',
          },
        },
      },
      async handle({ body }) {
        const wanted = { currency: body.currency.toLowerCase(), network: body.network.toLowerCase() }
        const counts = body.amountCurrency ?? 'crypto'
        const given = amountText(body.amount)
        if (given === undefined || (counts === 'usd' && !/^\d{1,9}(?:\.\d{1,2})?$/.test(given)))
          return deny(
            'invalid_request',
            'amount must be a decimal number above 0, of dollars in whole cents',
            {
              field: 'amount',
            },
          )
        const cents = Math.round(Number(given) * 100)
        const found = await quoted(
          provider,
          { ...wanted, ...(counts === 'usd' ? { amountCents: cents } : { amount: given }) },
          'currency',
        )
        if (!found.ok) return found
        const { minAmountCents, maxAmountCents } = found.value
        const outside =
          counts === 'usd'
            ? cents < minAmountCents || (maxAmountCents !== null && cents > maxAmountCents)
            : isOutside(given, found.value)
        if (outside)
          return deny('invalid_request', 'amount is outside the range: see deposits/range', {
            field: 'amount',
          })
        const estimate = {
          ...estimateData(found.value, wanted, 'in'),
          quotedAmount: given,
          quotedAmountCurrency: counts,
        }
        return allow({ data: { estimate }, summary: `About ${estimate.estimatedToAmount} USD arrive.` })
      },
    }),
  ]
}
