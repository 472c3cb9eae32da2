import * as Type from 'typebox/type'
import { idText, nameText } from '@gatewright/host/schemas'
import { DECIMAL } from './decimal.ts'
import { takes, type MethodsOf } from './port.ts'
import { orNull, orRejection, reply, type ReplyType } from './reply.ts'

export const Decimal = Type.String({ pattern: DECIMAL })
/** An amount in cents. The maximum keeps sums of amounts within the safe integers. */
export const Cents = Type.Integer({ minimum: 0, maximum: 1_000_000_000_000 })

/** Maximum number of networks of one asset. A reply with more is malformed. */
export const MAX_NETWORKS = 100

const lowerCase = Type.String({ pattern: '^[a-z0-9._-]{1,40}$' })

const assets = reply(
  Type.Array(
    Type.Object({
      /** Lower case, such as `usdc`. */
      ticker: lowerCase,
      name: nameText(1, 80),
      /** The URL of a picture. */
      icon: orNull(idText(2000)),
      networks: Type.Array(
        Type.Object({
          /** Lower case, such as `base`. */
          id: lowerCase,
          label: nameText(1, 80),
          /** The chain id of a network whose addresses have the form of Ethereum's; null for all other networks. */
          chainId: orNull(Type.Integer({ minimum: 1 })),
          tokenContract: orNull(idText(128)),
          /** The number of decimals of an amount on this network. */
          decimals: Type.Integer({ minimum: 0, maximum: 36 }),
          /** Whether a payment can name a memo or tag beside the address. */
          supportsExtraId: Type.Boolean(),
        }),
        { maxItems: MAX_NETWORKS },
      ),
    }),
  ),
)
/** An asset, and the networks on which a provider receives or sends it. */
export type Asset = ReplyType<typeof assets>[number]

/** A request for a price. Without an amount, the quote has the limits and the price of the smallest amount. */
export interface QuoteRequest {
  readonly currency: string
  readonly network: string
  /** An amount of the asset. */
  readonly amount?: string
  /** What the amount is worth, fee included. */
  readonly amountCents?: number
}

const quote = reply(
  Type.Object({
    /** Limits of the amount in units of the asset. Null: no upper limit. */
    minAmount: Decimal,
    maxAmount: orNull(Decimal),
    /** The same limits in cents. */
    minAmountCents: Cents,
    maxAmountCents: orNull(Cents),
    /** What arrives after the fee: US dollars of a deposit, units of the asset of a withdrawal. */
    toAmount: Decimal,
    feeCents: Cents,
    /** Names a price that holds until `validUntil`, in milliseconds since 1970; null if there is none. */
    rateId: orNull(idText()),
    validUntil: orNull(Type.Integer({ minimum: 0 })),
  }),
)
/** A price. An amount outside the limits is quoted too: the host compares and denies. */
export type Quote = ReplyType<typeof quote>

/** The methods that the ports of deposits and withdrawals share. */
export const catalogueMethods = {
  assets: takes<[]>().replies(assets),
  /** Rejection: the asset or network is not in `assets`. */
  quote: takes<[want: QuoteRequest]>().replies(orRejection(quote)),
}
/** What a provider trades, and its prices. */
export type Catalogue = MethodsOf<typeof catalogueMethods>
