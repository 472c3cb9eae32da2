/** Where an ERC-20 payment may go: one entry of `PAYIN_RECEIVERS`. Addresses are in lower case. */
export interface PayinReceiver {
  readonly chainId: number
  /** What clients call the token, such as `USDC`. One token is worth one US dollar. */
  readonly asset: string
  readonly token: string
  /** The token's decimals, 2 to 36. One US cent is 10^(decimals - 2) of its smallest units. */
  readonly decimals: number
  /** The shared address to which all accounts may pay. The sender identifies the account. */
  readonly receiver: string
  /** Deposit addresses. Each serves only one pay-in, ever, so that anybody may send to it. Default: none. */
  readonly depositAddresses: readonly string[]
  /**
   * Instead of a list: an extended public key (BIP-32) from which the host derives one address for each
   * pay-in that needs one.
   */
  readonly xpub?: string
  /**
   * How many confirmations a transfer needs before it settles: its own block is the first, each later block one more. 1 to 10
   * 000, default 12.
   */
  readonly confirmations: number
}

/** Converts cents to the token's smallest units. The result is exact, since `decimals` is at least 2. */
export function unitsOf(amountCents: number, decimals: number): bigint {
  return BigInt(amountCents) * 10n ** BigInt(decimals - 2)
}
