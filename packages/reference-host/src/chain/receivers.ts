/** Where an ERC-20 payment may go: one entry of `PAYIN_RECEIVERS`. Addresses in lower case. */
export interface PayinReceiver {
  readonly chainId: number
  /** What people call the token, such as `USDC`. One unit of it is worth one US dollar. */
  readonly asset: string
  readonly token: string
  /** Of the token: 2 to 36. One US cent is 10^(decimals - 2) of its smallest units. */
  readonly decimals: number
  /** The address that every account pays to; the sender tells whose payment it is. */
  readonly receiver: string
  /** Addresses that each serve one pay-in, ever, so that anybody may send. Default none. */
  readonly depositAddresses: readonly string[]
  /** How many blocks, its own included, must hold a transfer before it settles. Default 12, at least 1. */
  readonly confirmations: number
}

/** A price in a token's smallest unit. */
export function unitsOf(amountCents: number, decimals: number): bigint {
  return BigInt(amountCents) * 10n ** BigInt(decimals - 2)
}
