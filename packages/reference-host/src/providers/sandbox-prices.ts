import type { Asset, Quote, QuoteRequest } from './catalogue.ts'
import { formatDecimal, formatDollars, ONE, parseDecimal } from './decimal.ts'
import type { Rejection } from './reply.ts'

const network = (id: string, chainId: number | null, tokenContract: string | null, decimals: number) => ({
  id,
  label: id[0]?.toUpperCase() + id.slice(1),
  chainId,
  tokenContract,
  decimals,
  supportsExtraId: id === 'ripple',
})

/** What the built-in providers trade. */
export const sandboxAssets: readonly Asset[] = [
  {
    ticker: 'usdc',
    name: 'USD Coin',
    icon: null,
    networks: [
      network('base', 8453, '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', 6),
      network('ethereum', 1, '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', 6),
    ],
  },
  {
    ticker: 'usdt',
    name: 'Tether USD',
    icon: null,
    networks: [network('ethereum', 1, '0xdac17f958d2ee523a2206206994597c13d831ec7', 6)],
  },
  { ticker: 'btc', name: 'Bitcoin', icon: null, networks: [network('bitcoin', null, null, 8)] },
  { ticker: 'xrp', name: 'XRP', icon: null, networks: [network('ripple', null, null, 6)] },
]

/** Cents for one unit. */
const PRICES: Readonly<Record<string, bigint>> = { usdc: 100n, usdt: 100n, btc: 6_000_000n, xrp: 50n }
const MIN_CENTS = 100
const MAX_CENTS = 5_000_000
/** Amounts are quoted with 8 digits after the point. */
const STEP = ONE / 10n ** 8n

/** Quotes a fixed price. The fee is taken off the amount. */
export function sandboxQuote(
  { currency, network: on, amount, amountCents }: QuoteRequest,
  port: 'deposits' | 'withdrawals',
): Quote | Rejection {
  const asset = sandboxAssets.find(({ ticker }) => ticker === currency)
  const price = PRICES[currency]
  if (price === undefined || !asset?.networks.some(({ id }) => id === on))
    return { rejected: `The sandbox does not know ${currency} on ${on}.` }
  const unitsFor = (cents: number): bigint => ((BigInt(cents) * ONE) / price / STEP) * STEP
  const least = unitsFor(MIN_CENTS)
  // Rounded up, so that the smallest amount is worth the smallest number of cents.
  const minUnits = least * price < BigInt(MIN_CENTS) * ONE ? least + STEP : least
  const cents =
    amount === undefined ? (amountCents ?? MIN_CENTS) : Number((parseDecimal(amount) * price) / ONE)
  const feeCents = port === 'deposits' ? 0 : 50
  const restCents = Math.max(0, cents - feeCents)
  return {
    minAmount: formatDecimal(minUnits),
    maxAmount: formatDecimal(unitsFor(MAX_CENTS)),
    minAmountCents: MIN_CENTS,
    maxAmountCents: MAX_CENTS,
    toAmount: port === 'deposits' ? formatDollars(restCents) : formatDecimal(unitsFor(restCents)),
    feeCents,
    rateId: 'fixed',
    validUntil: null,
  }
}
