/** A token on a network, with the uses that it has on this host. */
export interface TokenUse {
  readonly symbol: string
  readonly name: string
  /** The chain by its EIP-155 number; null for a network without one. */
  readonly chainId: number | null
  readonly network: string
  /** The token's contract in lower case; null for the native coin of the network. */
  readonly address: string | null
  readonly decimals: number
  readonly uses: readonly ('payin' | 'deposit' | 'withdrawal')[]
}
