import type { Fault } from '@gatewright/kernel'
import { checkOptions, type OptionTable } from '@gatewright/kernel/internal'
import { jsonRpc, unavailable, type RpcCall } from './json-rpc.ts'
import { blockReply, chainIdReply, type Block, type NodeReply } from './parse-replies.ts'

/** Which node a chain is read from. */
export interface ViemReaderOptions {
  readonly chainId: number
  /** An http or https JSON-RPC endpoint that accepts batches of 3 calls. No fault shows the URL, which may hold an API key. */
  readonly url: string
  /** In ms, 100 to 30 000, default 5 000. Bounds `head`, `ofTransaction`, and each request of `transfers`. */
  readonly timeoutMs?: number
}

const OPTIONS: OptionTable<ViemReaderOptions> = {
  chainId: true,
  url: true,
  timeoutMs: true,
}

/** One node, whose chain id is verified by the first request. */
export interface ChainNode {
  readonly chainId: number
  /** Checks and reads a reply. Fault: `malformed`. */
  parse<T>(expected: NodeReply<T>, reply: unknown): T
  malformed(what: string): Fault
  /** A signal that aborts after `timeoutMs`. */
  timeoutSignal(): AbortSignal
  /**
   * Sends calls in one HTTP request and returns their results in order. The first request also checks the
   * chain's id.
   */
  request(calls: readonly RpcCall[], signal?: AbortSignal): Promise<readonly unknown[]>
  /**
   * Parses the reply to `blockCall(number)`. Fault: `ERR_RPC_UNAVAILABLE` when the node does not know the
   * block yet.
   */
  block(reply: unknown, number: number): Block
}

/** Creates the client of a node. Throws a `TypeError` for a `timeoutMs` out of bounds. */
export function chainNode(options: ViemReaderOptions): ChainNode {
  const { chainId, url, timeoutMs = 5000 } = checkOptions('viemReader', options, OPTIONS)
  if (!Number.isInteger(timeoutMs) || timeoutMs < 100 || timeoutMs > 30_000)
    throw new TypeError('timeoutMs must be an integer from 100 to 30000')
  const rpc = jsonRpc(chainId, url)
  const malformed = (what: string): Fault => unavailable(chainId, `malformed reply: ${what}`)
  const parse: ChainNode['parse'] = ({ what, validate, read }, reply) => {
    const problem = validate(reply)
    if (problem) throw malformed(`${what}: ${problem.message}`)
    return read(reply as never)
  }
  const timeoutSignal = (): AbortSignal => AbortSignal.timeout(timeoutMs)
  let isChainVerified = false
  return {
    chainId,
    parse,
    malformed,
    timeoutSignal,
    async request(calls, signal = timeoutSignal()) {
      if (isChainVerified) return rpc(calls, signal)
      const [id, ...results] = await rpc([{ method: 'eth_chainId', params: [] }, ...calls], signal)
      if (parse(chainIdReply, id) !== chainId) throw unavailable(chainId, 'the node serves another chain')
      isChainVerified = true
      return results
    },
    block(reply, number) {
      const block = parse(blockReply, reply)
      if (!block) throw unavailable(chainId, `the node does not know block ${number}`)
      if (block.number !== number) throw malformed('another block')
      return block
    },
  }
}

/** Makes the call for a block without its transactions. */
export function blockCall(number: number | 'latest'): RpcCall {
  const tag = number === 'latest' ? number : quantity(number)
  return { method: 'eth_getBlockByNumber', params: [tag, false] }
}

/** Formats a number for JSON-RPC. */
export function quantity(number: number): string {
  return `0x${number.toString(16)}`
}
