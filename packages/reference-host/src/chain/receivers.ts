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
  /** In their place: an extended public key (BIP-32) that an address is derived from for each pay-in that needs one. */
  readonly xpub?: string
  /** How many blocks, its own included, must hold a transfer before it settles. Default 12, 1 to 10 000. */
  readonly confirmations: number
}

/** An amount in the token's smallest units. Exact: `decimals` is at least 2. */
export function unitsOf(amountCents: number, decimals: number): bigint {
  return BigInt(amountCents) * 10n ** BigInt(decimals - 2)
}
