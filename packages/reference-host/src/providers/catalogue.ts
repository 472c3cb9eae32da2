import type { EpochMs } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { compileSchema } from '../schemas/check.ts'
import { idText, nameText } from '../schemas/names.ts'
import { DECIMAL } from './decimal.ts'
import { isRejection, validateRejection, type Rejection } from './rejection.ts'

/** An asset, and the networks on which a provider takes or sends it. */
export interface Asset {
  /** Lower case, such as `usdc`. */
  readonly ticker: string
  readonly name: string
  /** The URL of a picture. */
  readonly icon: string | null
  readonly networks: readonly {
    /** Lower case, such as `base`. */
    readonly id: string
    readonly label: string
    /** Of a network with addresses as on Ethereum; null for all others. */
    readonly chainId: number | null
    readonly tokenContract: string | null
    /** How many digits after the point an amount has on this network. */
    readonly decimals: number
    /** Whether a payment can name a memo or tag beside the address. */
    readonly supportsExtraId: boolean
  }[]
}

/** What a price is asked for. Without an amount: the limits, and the price of the smallest amount. */
export interface QuoteRequest {
  readonly currency: string
  readonly network: string
  /** An amount of the asset. */
  readonly amount?: string
  /** What the amount is worth, fee included. */
  readonly amountCents?: number
}

/** A price. An amount outside the limits is quoted too: the host compares and denies. */
export interface Quote {
  /** Limits of the amount in units of the asset. Null: no upper limit. */
  readonly minAmount: string
  readonly maxAmount: string | null
  /** The same limits in cents. */
  readonly minAmountCents: number
  readonly maxAmountCents: number | null
  /** What arrives after the fee: US dollars of a deposit, units of the asset of a withdrawal. */
  readonly toAmount: string
  readonly feeCents: number
  /** Names a price that holds until `validUntil`; null if there is none. */
  readonly rateId: string | null
  readonly validUntil: EpochMs | null
}

/** What a provider trades, and its prices. Every call ends within 10 seconds and stops when its signal aborts. */
export interface Catalogue {
  assets(signal: AbortSignal): Promise<readonly Asset[]>
  /** Rejection: the asset or network is not in `assets`. */
  quote(want: QuoteRequest, signal: AbortSignal): Promise<Quote | Rejection>
}

export const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])
export const Decimal = Type.String({ pattern: DECIMAL })
/** More cents than this would leave the exact integers when they are added up. */
export const Cents = Type.Integer({ minimum: 0, maximum: 1_000_000_000_000 })

/** Most networks of one asset. A reply with more is malformed. */
export const MAX_NETWORKS = 100

const lowerCase = Type.String({ pattern: '^[a-z0-9._-]{1,40}$' })
const Network = Type.Object({
  id: lowerCase,
  label: nameText(1, 80),
  supportsExtraId: Type.Boolean(),
  chainId: orNull(Type.Integer({ minimum: 1 })),
  tokenContract: orNull(idText(128)),
  decimals: Type.Integer({ minimum: 0, maximum: 36 }),
})
const assetsSchema = compileSchema(
  Type.Object({
    assets: Type.Array(
      Type.Object({
        ticker: lowerCase,
        name: nameText(1, 80),
        icon: orNull(idText(2000)),
        networks: Type.Array(Network, { maxItems: MAX_NETWORKS }),
      }),
    ),
  }),
)

/** Checks a reply: returns its first error, or undefined. */
export type ReplyCheck = ReturnType<typeof compileSchema>

/** Makes the check of a reply that can also be a rejection. */
export function orRejection(check: ReplyCheck): ReplyCheck {
  return reply =>
    typeof reply === 'object' && reply !== null && isRejection(reply)
      ? validateRejection(reply)
      : check(reply)
}

export const validateAssets: ReplyCheck = assets => assetsSchema({ assets })
export const validateQuoteReply: ReplyCheck = orRejection(
  compileSchema(
    Type.Object({
      minAmount: Decimal,
      maxAmount: orNull(Decimal),
      toAmount: Decimal,
      minAmountCents: Cents,
      maxAmountCents: orNull(Cents),
      feeCents: Cents,
      rateId: orNull(idText()),
      validUntil: orNull(Type.Integer({ minimum: 0 })),
    }),
  ),
)
