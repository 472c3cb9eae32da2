import * as Type from 'typebox/type'
import { compileSchema } from '@gatewright/host/internal'
import type { TokenTransfer } from './reader.ts'

/** What a node replies to one call: the check of the reply, and what the host reads from it. */
export interface NodeReply<T> {
  /** Names the reply in faults. */
  readonly what: string
  readonly validate: ReturnType<typeof compileSchema>
  /** Reads a valid reply. */
  readonly read: (reply: never) => T
}

function nodeReply<S extends Type.TSchema, T>(
  what: string,
  schema: S,
  read: (reply: Type.Static<S>) => T,
): NodeReply<T> {
  return { what, validate: compileSchema(schema), read }
}

/** A number up to 2^53 - 1, which JavaScript holds exactly. */
const Quantity = Type.String({ pattern: '^0x0*1?[0-9a-fA-F]{1,13}$', maxLength: 18 })
const hex = (bytes: number) => Type.String({ pattern: `^0x[0-9a-fA-F]{${bytes * 2}}$` })

const MinedBlock = Type.Object({ number: Quantity, hash: hex(32), timestamp: Quantity })
const MinedLog = Type.Object({
  address: hex(20),
  topics: Type.Array(hex(32)),
  data: Type.String({ pattern: '^0x(?:[0-9a-fA-F]{2})*$' }),
  blockNumber: Quantity,
  blockHash: hex(32),
  transactionHash: hex(32),
  logIndex: Quantity,
  // Only current logs were requested.
  removed: Type.Optional({ not: { const: true } }),
})
const MinedReceipt = Type.Object({
  transactionHash: hex(32),
  blockNumber: Quantity,
  blockHash: hex(32),
  logs: Type.Array(MinedLog),
  status: Type.Optional(Type.String({ pattern: '^0x0*[01]$', maxLength: 18 })),
})
// Some nodes send a receipt for a pending transaction.
const PendingReceipt = Type.Object({ blockNumber: Type.Null() })

/** The fields of a block that the host uses. */
export type Block = ReturnType<typeof readBlock>
function readBlock({ number, hash, timestamp }: Type.Static<typeof MinedBlock>) {
  return { number: Number(number), hash: hash.toLowerCase(), seconds: Number(timestamp) }
}

/** An event log. Addresses, topics and hashes are in lower case. */
export type Log = ReturnType<typeof readLog>
function readLog(log: Type.Static<typeof MinedLog>) {
  return {
    address: log.address.toLowerCase(),
    topics: log.topics.map(topic => topic.toLowerCase()),
    data: log.data.toLowerCase(),
    blockNumber: Number(log.blockNumber),
    blockHash: log.blockHash.toLowerCase(),
    txHash: log.transactionHash.toLowerCase(),
    logIndex: Number(log.logIndex),
  }
}

export const chainIdReply: NodeReply<number> = nodeReply('chain id', Quantity, Number)

/** A block; undefined when the node does not know it. */
export const blockReply: NodeReply<Block | undefined> = nodeReply(
  'block',
  Type.Union([MinedBlock, Type.Null()]),
  block => (block === null ? undefined : readBlock(block)),
)

export const logsReply: NodeReply<Log[]> = nodeReply('logs', Type.Array(MinedLog), logs => logs.map(readLog))

/** A transaction's receipt; undefined until a block holds the transaction. */
export const receiptReply = nodeReply(
  'receipt',
  Type.Union([MinedReceipt, PendingReceipt, Type.Null()]),
  receipt => {
    if (receipt === null || receipt.blockNumber === null) return undefined
    return {
      txHash: receipt.transactionHash.toLowerCase(),
      blockNumber: Number(receipt.blockNumber),
      blockHash: receipt.blockHash.toLowerCase(),
      logs: receipt.logs.map(readLog),
      // Receipts from before Byzantium (EIP-658) have no status, so a reverted transaction looks like any other. Logs of a failed
      // transaction (some chains log its fee) moved no tokens.
      succeeded: receipt.status !== undefined && Number(receipt.status) === 1,
    }
  },
)

/** Keccak-256 of `Transfer(address,address,uint256)`, the first topic of the event (EIP-20). */
export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

const ADDRESS_TOPIC = /^0x0{24}/

/** Converts an address to a log topic: padded to 32 bytes. */
export function topicOf(address: string): string {
  return `0x${'0'.repeat(24)}${address.slice(2)}`
}

/**
 * Reads the ERC-20 transfer of a log; undefined if the log is not one. ERC-721 uses the same first topic and adds a fourth. An
 * amount must be 32 bytes and an address at most 20. Any contract may write other logs under this topic, so they are skipped
 * and cause no fault.
 */
export function transferOf(chainId: number, log: Log, block: Block): TokenTransfer | undefined {
  const [event, from, to, ...more] = log.topics
  if (event !== TRANSFER || from === undefined || to === undefined || more.length > 0) return undefined
  if (!ADDRESS_TOPIC.test(from) || !ADDRESS_TOPIC.test(to) || log.data.length !== 66) return undefined
  return {
    chainId,
    token: log.address,
    from: `0x${from.slice(26)}`,
    to: `0x${to.slice(26)}`,
    units: BigInt(log.data),
    txHash: log.txHash,
    logIndex: log.logIndex,
    blockNumber: log.blockNumber,
    blockHash: log.blockHash,
    minedAt: block.seconds * 1000,
  }
}
