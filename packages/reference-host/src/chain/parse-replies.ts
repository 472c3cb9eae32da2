import { isObject } from './json-rpc.ts'
import type { TokenTransfer } from './reader.ts'

/**
 * Parses the replies of one chain's node. Each function throws `malformed(what)` for a reply of another form.
 */
export interface ReplyParser {
  /** A number that JavaScript holds exactly. */
  number(value: unknown, what: string): number
  /** A block; undefined when the node does not know it. */
  block(value: unknown): Block | undefined
  /** A log of a mined block. A log marked `removed` is malformed, since only current logs were requested. */
  log(value: unknown): Log
  /** A transaction's receipt; undefined until a block holds the transaction. */
  receipt(value: unknown): Receipt | undefined
  /** An array of any values. */
  list(value: unknown, what: string): readonly unknown[]
}

/** The fields of a block that the host uses. */
export interface Block {
  readonly number: number
  readonly hash: string
  readonly seconds: number
}

/** An event log. Addresses, topics and hashes are in lower case. */
export interface Log {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly blockNumber: number
  readonly blockHash: string
  readonly txHash: string
  readonly logIndex: number
}

/**
 * The fields of a receipt that the host uses. Logs of a failed transaction (some chains log its fee) moved no
 * tokens.
 */
interface Receipt {
  readonly txHash: string
  readonly blockNumber: number
  readonly blockHash: string
  readonly logs: readonly Log[]
  readonly succeeded: boolean
}

/** Creates the parser. */
export function replyParser(malformed: (what: string) => Error): ReplyParser {
  const number = (value: unknown, what: string): number => {
    const read = typeof value === 'string' && /^0x[0-9a-f]{1,16}$/i.test(value) ? Number(value) : NaN
    if (!Number.isSafeInteger(read)) throw malformed(what)
    return read
  }
  const hex = (value: unknown, bytes: number | undefined, what: string): string => {
    const digits = bytes === undefined ? '(?:[0-9a-f]{2})*' : `[0-9a-f]{${bytes * 2}}`
    if (typeof value !== 'string' || !new RegExp(`^0x${digits}$`, 'i').test(value)) throw malformed(what)
    return value.toLowerCase()
  }
  const list = (value: unknown, what: string): readonly unknown[] => {
    if (!Array.isArray(value)) throw malformed(what)
    return value
  }
  const object = (value: unknown, what: string): Record<string, unknown> => {
    if (!isObject(value)) throw malformed(what)
    return value
  }
  const log = (value: unknown): Log => {
    const given = object(value, 'log')
    if (given['removed'] === true) throw malformed('removed log')
    return {
      address: hex(given['address'], 20, 'log address'),
      topics: list(given['topics'], 'log topics').map(topic => hex(topic, 32, 'log topic')),
      data: hex(given['data'], undefined, 'log data'),
      blockNumber: number(given['blockNumber'], 'log block number'),
      blockHash: hex(given['blockHash'], 32, 'log block hash'),
      txHash: hex(given['transactionHash'], 32, 'log transaction hash'),
      logIndex: number(given['logIndex'], 'log index'),
    }
  }
  const block = (value: unknown): Block | undefined => {
    if (value === null) return undefined
    const given = object(value, 'block')
    return {
      number: number(given['number'], 'block number'),
      hash: hex(given['hash'], 32, 'block hash'),
      seconds: number(given['timestamp'], 'block timestamp'),
    }
  }
  const receipt = (value: unknown): Receipt | undefined => {
    if (value === null) return undefined
    const given = object(value, 'receipt')
    // Some nodes send a receipt for a pending transaction.
    if (given['blockNumber'] === null) return undefined
    const logs = list(given['logs'], 'receipt logs').map(log)
    // Receipts from before Byzantium (EIP-658) have no status, so a reverted transaction looks like any
    // other.
    const status = given['status'] === undefined ? 0 : number(given['status'], 'receipt status')
    if (status > 1) throw malformed('receipt status')
    return {
      txHash: hex(given['transactionHash'], 32, 'receipt transaction hash'),
      blockNumber: number(given['blockNumber'], 'receipt block number'),
      blockHash: hex(given['blockHash'], 32, 'receipt block hash'),
      logs,
      succeeded: status === 1,
    }
  }
  return { number, block, log, receipt, list }
}

/** Keccak-256 of `Transfer(address,address,uint256)`, the first topic of the event (EIP-20). */
export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

const ADDRESS_TOPIC = /^0x0{24}/

/** An address as a log topic: padded to 32 bytes. */
export function topicOf(address: string): string {
  return `0x${'0'.repeat(24)}${address.slice(2)}`
}

/**
 * The ERC-20 transfer of a log; undefined when the log is not one. ERC-721 uses the same first topic and adds
 * a fourth. An amount must be 32 bytes and an address at most 20. Any contract may write other logs under
 * this topic, so they are skipped and cause no fault.
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
