import { allow, type Verdict } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { type Operation, operation, type PlainOperation, type HostDenial } from '@gatewright/host'
import { counted } from '@gatewright/host/internal'
import { textOrNull, idText, component, text } from '@gatewright/host/schemas'
import { deny } from '../product/denials.ts'
import {
  MAX_NETWORKS,
  type Asset,
  type Catalogue,
  type Quote,
  type QuoteRequest,
} from '../providers/catalogue.ts'
import { isRejection } from '../providers/reply.ts'
import { DECIMAL } from '../providers/decimal.ts'

/** A signal that never aborts, for calls whose only time limit is that of the wrapped provider. */
export const noSignal: AbortSignal = new AbortController().signal

const AssetSchema = Type.Object(
  {
    ticker: text('Names the asset in requests, as `currency`'),
    name: text('What people call it'),
    icon: textOrNull('The URL of a picture'),
    networks: Type.Array(
      Type.Object({
        id: text('Names the network in requests, as `network`'),
        label: text('What people call it'),
        chainId: Type.Union([Type.Integer(), Type.Null()], { description: 'EIP-155 chain id' }),
        tokenContract: textOrNull('The contract of the token'),
        decimals: Type.Integer({ description: 'Digits after the point' }),
        supportsExtraId: Type.Boolean({ description: 'Whether a payment can name a memo or tag' }),
      }),
      { maxItems: MAX_NETWORKS },
    ),
  },
  component('Asset', 'An asset, and the networks on which it can be used'),
)

const AssetsResponse = Type.Object(
  { assets: Type.Array(AssetSchema, { maxItems: 100 }) },
  component('AssetList', 'Assets and their networks'),
)
const assetsExample = {
  assets: [
    {
      ticker: 'usdc',
      name: 'USD Coin',
      icon: null,
      networks: [
        {
          id: 'base',
          label: 'Base',
          chainId: 8453,
          decimals: 6,
          supportsExtraId: false,
          tokenContract: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
        },
      ],
    },
  ],
}
const assetsQuery = Type.Object({
  q: Type.Optional(
    Type.String({
      pattern: '^(?:[A-Za-z0-9._-][A-Za-z0-9 ._-]{0,39})?$',
      description: 'Only assets whose ticker or name holds this text',
      expected: 'must be 1 to 40 letters, digits, spaces, dots, hyphens or underscores',
    }),
  ),
  limit: Type.Integer({
    minimum: 1,
    maximum: 100,
    default: 100,
    description: 'Most assets',
    expected: 'must be an integer from 1 to 100',
  }),
})

/** Declares the list of a provider's assets on the partner surface. */
export function assetsOperation(
  provider: Catalogue,
  rule: Pick<PlainOperation<'session'>, 'id' | 'title' | 'paths' | 'anyOf'>,
): Operation {
  return operation({
    ...rule,
    surface: 'partner',
    method: 'GET',
    credential: 'session',
    scopes: [],
    query: assetsQuery,
    response: AssetsResponse,
    example: { response: assetsExample },
    async handle({ query: { q = '', limit } }) {
      const wanted = q.toLowerCase()
      const all = await provider.assets(noSignal)
      const assets = all
        .filter(({ ticker, name }) => ticker.includes(wanted) || name.toLowerCase().includes(wanted))
        .slice(0, limit)
      return allow({ data: { assets }, summary: `${counted(assets.length, 'assets')}.` })
    },
  })
}

/** An asset on one network. */
export type AssetOnNetwork = Omit<Asset, 'networks'> & { readonly network: Asset['networks'][number] }

/** Finds the first asset on a network for which `test` is true. */
export function findAsset(
  assets: readonly Asset[],
  test: (found: AssetOnNetwork) => boolean,
): AssetOnNetwork | undefined {
  return assets
    .flatMap(({ networks, ...asset }) => networks.map(network => ({ ...asset, network })))
    .find(test)
}

/** Reads a price. Denial: `invalid_request` for an asset or network that the provider does not have. */
export async function quoted(
  provider: Catalogue,
  want: QuoteRequest,
  field: string,
): Promise<Verdict<Quote, HostDenial>> {
  const quote = await provider.quote(want, noSignal)
  if (isRejection(quote)) return deny('invalid_request', `${field} and network: ${quote.rejected}`, { field })
  return allow(quote)
}

/** An amount of an asset in a request: a decimal text, or a number. */
export const Amount = Type.Union([Type.String({ pattern: DECIMAL }), Type.Number({ minimum: 0 })], {
  description: 'Units of the asset, such as "25.5"; at most 18 digits after the point',
})

/** Reads an amount as a decimal text above 0; undefined for another text, and for zero. */
export function amountText(amount: string | number): string | undefined {
  const given = String(amount)
  return new RegExp(DECIMAL).test(given) && /[1-9]/.test(given) ? given : undefined
}

/** Members of requests that name an asset on a network. Case does not matter. */
export const assetMembers = {
  currency: idText(40, 'The ticker of an asset'),
  network: idText(40, 'The id of a network of the asset'),
} as const

/** The members of `range` in responses, also part of each estimate. */
export const rangeMembers = {
  fromCurrency: text('What is sent'),
  fromNetwork: text('The network on which it is sent; `balance` for the balance of the account'),
  toCurrency: text('What arrives'),
  toNetwork: text('The network on which it arrives; `balance` for the balance of the account'),
  contractId: Type.Null({ description: 'Always null; kept for existing clients' }),
  payoutAddress: Type.Null({ description: 'Always null; kept for existing clients' }),
  payoutChainId: Type.Null({ description: 'Always null; kept for existing clients' }),
  minAmount: text('The smallest amount of the asset'),
  maxAmount: textOrNull('The largest amount of the asset; null for no limit'),
} as const

/** Writes `range`: to the balance for a deposit, from it for a withdrawal. */
export function rangeData(
  { minAmount, maxAmount }: Quote,
  asset: { readonly currency: string; readonly network: string },
  direction: 'in' | 'out',
) {
  const [currency, network] = [asset.currency, asset.network]
  const outside = direction === 'in' ? { fromCurrency: currency, fromNetwork: network } : {}
  const ours = { fromCurrency: 'usd', fromNetwork: 'balance', toCurrency: 'usd', toNetwork: 'balance' }
  return {
    ...ours,
    ...outside,
    ...(direction === 'out' ? { toCurrency: currency, toNetwork: network } : {}),
    contractId: null,
    payoutAddress: null,
    payoutChainId: null,
    minAmount,
    maxAmount,
  }
}

/** Members of an estimate that both directions return. */
export const estimateMembers = {
  ...rangeMembers,
  estimatedToAmount: text('What arrives after the fee'),
  feeCents: Type.Integer({ minimum: 0, description: 'The fee, in cents' }),
  rateId: textOrNull('Names the price; null if it has no name'),
  validUntil: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'How long the price holds; null if nobody promises it',
  }),
} as const

/** Writes those members. */
export function estimateData(quote: Quote, asset: Parameters<typeof rangeData>[1], direction: 'in' | 'out') {
  const { toAmount, feeCents, rateId, validUntil } = quote
  return {
    ...rangeData(quote, asset, direction),
    estimatedToAmount: toAmount,
    feeCents,
    rateId,
    validUntil: validUntil === null ? null : new Date(validUntil).toISOString(),
  }
}
