import type { EpochMs } from '@gatewright/kernel'

/**
 * One `Transfer` event of an ERC-20 token in a mined block (EIP-20). Addresses and hashes are in lower case.
 */
export interface TokenTransfer {
  readonly chainId: number
  readonly token: string
  readonly from: string
  readonly to: string
  /** In the token's smallest unit. */
  readonly units: bigint
  readonly txHash: string
  /** Position of the event in its block. Chain, transaction and log index identify the event. */
  readonly logIndex: number
  readonly blockNumber: number
  /** Distinguishes blocks of the same number after a reorganisation. */
  readonly blockHash: string
  /** The block's own timestamp, in whole seconds. */
  readonly minedAt: EpochMs
}

/** Which transfers to search for. Addresses are in lower case. */
export interface TransferQuery {
  readonly tokens: readonly string[]
  readonly receivers: readonly string[]
  /** First and last block, both inclusive. */
  readonly fromBlock: number
  readonly toBlock: number
}

/** The newest block of a chain. */
interface ChainHead {
  readonly number: number
  /** The block's own timestamp: everything mined before it is in the chain. */
  readonly minedAt: EpochMs
}

/**
 * Reads one chain. Each reply describes the chain at that moment: a reorganisation may remove a transfer
 * later. Fault: `ERR_RPC_UNAVAILABLE` (no reply in time, or a malformed one).
 */
export interface ChainReader {
  readonly chainId: number
  /** The newest block. A node that lags behind returns an older one. */
  head(): Promise<ChainHead>
  /**
   * Transfers of `tokens` to `receivers` in a range of blocks, in chain order. Empty when there are no
   * tokens, no receivers, or when the range ends before it starts. A range beyond the newest block is a
   * fault.
   */
  transfers(query: TransferQuery): Promise<readonly TokenTransfer[]>
  /**
   * All token transfers of a transaction (0x and 64 hex digits), in order; undefined until the transaction is mined. A reverted
   * transaction has none.
   */
  ofTransaction(txHash: string): Promise<readonly TokenTransfer[] | undefined>
}
