import { knownOptions, type Fault, type OptionNames } from '@gatewright/kernel'
import { jsonRpc, unavailable, type RpcCall } from './json-rpc.ts'
import { replyParser, type Block, type ReplyParser } from './parse-replies.ts'

/** Where a chain is read. */
export interface ViemReaderOptions {
  readonly chainId: number
  /** An http or https JSON-RPC endpoint that takes batches of 3. No fault shows its URL, which may hold a key. */
  readonly url: string
  /** In ms, 100 to 30 000, default 5 000: the longest `head` and `ofTransaction`, and each request of `transfers`. */
  readonly timeoutMs?: number
}

const OPTIONS: OptionNames<ViemReaderOptions> = {
  chainId: true,
  url: true,
  timeoutMs: true,
}

/** A node that was found to be of its chain, and what is made of its answers. */
export interface ChainNode {
  readonly chainId: number
  readonly parse: ReplyParser
  malformed(what: string): Fault
  /** A signal that ends a question in time. */
  timeoutSignal(): AbortSignal
  /** Asks in one HTTP request, in the order given. The first one also asks for the chain's id. */
  request(calls: readonly RpcCall[], signal?: AbortSignal): Promise<readonly unknown[]>
  /** The block of an answer to `blockCall(number)`; a node that does not know it yet is a fault. */
  block(reply: unknown, number: number): Block
}

/** Makes the node. Throws a `TypeError` for a `timeoutMs` out of bounds. */
export function chainNode(options: ViemReaderOptions): ChainNode {
  const { chainId, url, timeoutMs = 5000 } = knownOptions('viemReader', options, OPTIONS)
  if (!Number.isInteger(timeoutMs) || timeoutMs < 100 || timeoutMs > 30_000)
    throw new TypeError('timeoutMs must be an integer from 100 to 30000')
  const rpc = jsonRpc(chainId, url)
  const malformed = (what: string): Fault => unavailable(chainId, `malformed reply: ${what}`)
  const parse = replyParser(malformed)
  const timeoutSignal = (): AbortSignal => AbortSignal.timeout(timeoutMs)
  let isChainVerified = false
  return {
    ...{ chainId, parse, malformed, timeoutSignal },
    async request(calls, signal = timeoutSignal()) {
      if (isChainVerified) return rpc(calls, signal)
      const [id, ...results] = await rpc([{ method: 'eth_chainId', params: [] }, ...calls], signal)
      if (parse.number(id, 'chain id') !== chainId) throw unavailable(chainId, 'it is another chain')
      isChainVerified = true
      return results
    },
    block(reply, number) {
      const block = parse.block(reply)
      if (!block) throw unavailable(chainId, `the node does not know block ${number}`)
      if (block.number !== number) throw malformed('another block')
      return block
    },
  }
}

/** Asks for a block, without its transactions. */
export function blockCall(number: number | 'latest'): RpcCall {
  const tag = number === 'latest' ? number : quantity(number)
  return { method: 'eth_getBlockByNumber', params: [tag, false] }
}

/** A number as JSON-RPC spells it. */
export function quantity(number: number): string {
  return `0x${number.toString(16)}`
}
