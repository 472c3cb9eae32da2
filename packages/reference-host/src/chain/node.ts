import { knownOptions, type Fault, type OptionNames } from '@gatewright/kernel'
import { jsonRpc, unavailable, type Call } from './json-rpc.ts'
import { repliesOf, type Block, type Replies } from './parse-replies.ts'

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
  readonly replies: Replies
  malformed(what: string): Fault
  /** A signal that ends a question in time. */
  timeBox(): AbortSignal
  /** Asks in one HTTP request, in the order given. The first one also asks for the chain's id. */
  ask(calls: readonly Call[], signal?: AbortSignal): Promise<readonly unknown[]>
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
  const replies = repliesOf(malformed)
  const timeBox = (): AbortSignal => AbortSignal.timeout(timeoutMs)
  let isThatChain = false
  return {
    ...{ chainId, replies, malformed, timeBox },
    async ask(calls, signal = timeBox()) {
      if (isThatChain) return rpc(calls, signal)
      const [id, ...results] = await rpc([{ method: 'eth_chainId', params: [] }, ...calls], signal)
      if (replies.number(id, 'chain id') !== chainId) throw unavailable(chainId, 'it is another chain')
      isThatChain = true
      return results
    },
    block(reply, number) {
      const block = replies.block(reply)
      if (!block) throw unavailable(chainId, `the node does not know block ${number}`)
      if (block.number !== number) throw malformed('another block')
      return block
    },
  }
}

/** Asks for a block, without its transactions. */
export function blockCall(number: number | 'latest'): Call {
  const tag = number === 'latest' ? number : quantity(number)
  return { method: 'eth_getBlockByNumber', params: [tag, false] }
}

/** A number as JSON-RPC spells it. */
export function quantity(number: number): string {
  return `0x${number.toString(16)}`
}
