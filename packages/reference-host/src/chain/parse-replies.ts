import { isObject } from './json-rpc.ts'
import type { TokenTransfer } from './reader.ts'

/** Reads the answers of one chain. Each function throws what `malformed` makes of an answer that is no such thing. */
export interface ReplyParser {
  /** A number that fits exactly. */
  number(value: unknown, what: string): number
  /** A block of the chain; undefined when the node does not know it. */
  block(value: unknown): Block | undefined
  /** A log of a mined block. `removed` ones are malformed: nobody asked for them. */
  log(value: unknown): Log
  /** A transaction's receipt; undefined while no block holds it. */
  receipt(value: unknown): Receipt | undefined
  /** A list of any values. */
  list(value: unknown, what: string): readonly unknown[]
}

/** The part of a block that matters. */
export interface Block {
  readonly number: number
  readonly hash: string
  readonly seconds: number
}

/** An event as nodes tell it, in lower case. */
export interface Log {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly blockNumber: number
  readonly blockHash: string
  readonly txHash: string
  readonly logIndex: number
}

/** The part of a receipt that matters. What a transaction that failed logged (some chains log its fee) moved no token. */
interface Receipt {
  readonly txHash: string
  readonly blockNumber: number
  readonly blockHash: string
  readonly logs: readonly Log[]
  readonly succeeded: boolean
}

/** Makes the readers of answers. */
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
    // Some nodes tell of a transaction that still waits.
    if (given['blockNumber'] === null) return undefined
    const logs = list(given['logs'], 'receipt logs').map(log)
    // Receipts of before Byzantium (EIP-658) have no status: whether the transaction was reverted cannot be told.
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

/** An address as topics hold it: padded to 32 bytes. */
export function topicOf(address: string): string {
  return `0x${'0'.repeat(24)}${address.slice(2)}`
}

/**
 * The ERC-20 transfer that a log tells of; undefined when it tells of something else. ERC-721 has the same first
 * topic and a fourth one. Data of any length but 32 bytes is no amount, and a topic with more than 20 bytes no
 * address: anybody's contract may write such logs, so they are skipped and no fault.
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
