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
  /** The block's own time; blocks count whole seconds. */
  readonly minedAt: EpochMs
}

/** Which transfers are asked for. */
export interface TransferQuery {
  readonly tokens: readonly string[]
  readonly receivers: readonly string[]
  /** First and last block, both included. */
  readonly fromBlock: number
  readonly toBlock: number
}

/**
 * What a host asks of one chain. Every answer is about the chain as it is now: a reorganisation may take a transfer
 * away again. Faults: `ERR_CHAIN_UNAVAILABLE` (no answer in time), `ERR_CHAIN_REPLY` (an answer that makes no sense).
 */
export interface ChainReader {
  readonly chainId: number
  /** The newest block's number. */
  head(): Promise<number>
  /** Transfers to `receivers` in a range of blocks, in the order of the chain. No tokens or receivers: none. */
  transfers(query: TransferQuery): Promise<readonly TokenTransfer[]>
  /** The transfers that a transaction made; undefined while no block holds it. A reverted one made none. */
  ofTransaction(txHash: string): Promise<readonly TokenTransfer[] | undefined>
}
