import type { EpochMs } from '@gatewright/kernel'

/** One `Transfer` event of an ERC-20 token, as a mined block holds it (EIP-20). Addresses and hashes in lower case. */
export interface TokenTransfer {
  readonly chainId: number
  readonly token: string
  readonly from: string
  readonly to: string
  /** In the token's smallest unit. */
  readonly units: bigint
  readonly txHash: string
  /** Place of the event in its block. With the chain and the transaction it names the event. */
  readonly logIndex: number
  readonly blockNumber: number
  /** Tells a block from another at the same place after a reorganisation. */
  readonly blockHash: string
  /** The block's own time; blocks count whole seconds. */
  readonly minedAt: EpochMs
}

/** Which transfers are asked for. Addresses in lower case. */
export interface TransferQuery {
  readonly tokens: readonly string[]
  readonly receivers: readonly string[]
  /** First and last block, both included. */
  readonly fromBlock: number
  readonly toBlock: number
}

/** The end of a chain. */
interface ChainHead {
  readonly number: number
  /** The block's own time: all that was mined before it is in the chain by then. */
  readonly minedAt: EpochMs
}

/**
 * What a host asks of one chain. Every answer is about the chain as it is now: a reorganisation may take a transfer
 * away again. Fault: `ERR_RPC_UNAVAILABLE` (no answer in time, or one that makes no sense).
 */
export interface ChainReader {
  readonly chainId: number
  /** The newest block. A node that lags behind says an older one. */
  head(): Promise<ChainHead>
  /**
   * Transfers of `tokens` to `receivers` in a range of blocks, in the order of the chain. None for no tokens, no
   * receivers, or a range that ends before it starts. A range that the chain has not reached is a fault.
   */
  transfers(query: TransferQuery): Promise<readonly TokenTransfer[]>
  /**
   * The transfers of any token that a transaction (0x and 64 hex digits) made, in order; undefined while no block
   * holds it. A reverted one made none.
   */
  ofTransaction(txHash: string): Promise<readonly TokenTransfer[] | undefined>
}
