import { blockCall, chainNode, quantity, type ChainNode, type ViemReaderOptions } from './node.ts'
import {
  blockReply,
  logsReply,
  receiptReply,
  topicOf,
  TRANSFER,
  transferOf,
  type Block,
  type Log,
} from './parse-replies.ts'
import type { ChainReader, TokenTransfer, TransferQuery } from './reader.ts'

/** Nodes reject larger ranges, and more values of one topic. */
const BLOCKS_A_CALL = 2000
const RECEIVERS_A_CALL = 500
/** Calls in one HTTP request. Some public endpoints reject more. */
const BATCH = 3

/**
 * Reads a chain by JSON-RPC over viem's HTTP client, without retries and without a cache. The first request also checks the
 * chain's id.
 *
 * A node that lags behind replies "no logs" for blocks it does not have. So the same HTTP request first asks for the last block
 * of the range, and a node that does not know that block is a fault. This covers a single node, and load balancers that send a
 * whole request to one node. It does not cover load balancers that split a batch over several nodes, nor nodes that know a
 * block before they can search its logs: a caller that must not miss a payment reads the newest blocks again until they are
 * deep enough.
 *
 * A log and its block must agree on the block's hash, otherwise the chain changed between two replies. Fault:
 * `ERR_RPC_UNAVAILABLE` for a reply that is missing, late, malformed or contradictory. Throws a `TypeError` for a `timeoutMs`
 * out of bounds.
 */
export function viemReader(options: ViemReaderOptions): ChainReader {
  const node = chainNode(options)
  return {
    chainId: options.chainId,
    async head() {
      const [found] = await node.request([blockCall('latest')])
      const block = node.parse(blockReply, found)
      if (!block) throw node.malformed('no newest block')
      return { number: block.number, minedAt: block.seconds * 1000 }
    },
    transfers: query => transfersIn(node, query),
    ofTransaction: txHash => transfersBy(node, txHash.toLowerCase()),
  }
}

async function transfersIn(node: ChainNode, query: TransferQuery): Promise<readonly TokenTransfer[]> {
  const { tokens, fromBlock, toBlock } = query
  const receivers = tokens.length === 0 ? [] : chunksOf([...new Set(query.receivers)], RECEIVERS_A_CALL)
  const logs: Log[] = []
  const blocks = new Map<number, Block>()
  for (let from = fromBlock; from <= toBlock; from += BLOCKS_A_CALL) {
    const to = Math.min(from + BLOCKS_A_CALL - 1, toBlock)
    for (const some of receivers) {
      const found = await logsOf(node, { tokens, receivers: some, fromBlock: from, toBlock: to })
      logs.push(...found.logs)
      blocks.set(to, found.last)
    }
  }
  const missing = [...new Set(logs.map(log => log.blockNumber))].filter(number => !blocks.has(number))
  for (const numbers of chunksOf(missing, BATCH)) {
    const found = await node.request(numbers.map(blockCall))
    for (const [at, number] of numbers.entries()) blocks.set(number, node.block(found[at], number))
  }
  return inOrder(node, logs, blocks)
}

/** Reads the logs of one call, and the last block of its range. */
async function logsOf(
  node: ChainNode,
  { tokens, receivers, fromBlock, toBlock }: TransferQuery,
): Promise<{ logs: readonly Log[]; last: Block }> {
  const receiverTopics = receivers.map(topicOf)
  const range = { fromBlock: quantity(fromBlock), toBlock: quantity(toBlock) }
  const filter = { ...range, address: tokens, topics: [TRANSFER, null, receiverTopics] }
  // The block comes first: a node that knows the block has its logs too.
  const [block, found] = await node.request([blockCall(toBlock), { method: 'eth_getLogs', params: [filter] }])
  const last = node.block(block, toBlock)
  const logs = node.parse(logsReply, found)
  const requested = new Set([...tokens, ...receiverTopics])
  for (const { address, topics, blockNumber } of logs) {
    const [event, , to = ''] = topics
    const matches = requested.has(address) && event === TRANSFER && requested.has(to)
    if (!matches || blockNumber < fromBlock || blockNumber > toBlock)
      throw node.malformed('a log that was not requested')
  }
  return { logs, last }
}

async function transfersBy(node: ChainNode, txHash: string): Promise<readonly TokenTransfer[] | undefined> {
  const signal = node.timeoutSignal()
  const [reply] = await node.request([{ method: 'eth_getTransactionReceipt', params: [txHash] }], signal)
  const receipt = node.parse(receiptReply, reply)
  if (!receipt) return undefined
  const { blockNumber, blockHash } = receipt
  const logs = receipt.succeeded ? receipt.logs : []
  const ofOne = logs.every(log => log.txHash === txHash && log.blockNumber === blockNumber)
  if (receipt.txHash !== txHash || !ofOne) throw node.malformed('a receipt of another transaction')
  const [found] = await node.request([blockCall(blockNumber)], signal)
  const block = node.block(found, blockNumber)
  if (block.hash !== blockHash) throw node.malformed('a receipt of a block that left the chain')
  return inOrder(node, logs, new Map([[blockNumber, block]]))
}

/** Sorts transfers in chain order. Throws if a log and its block disagree. */
function inOrder(
  node: ChainNode,
  logs: readonly Log[],
  blocks: ReadonlyMap<number, Block>,
): readonly TokenTransfer[] {
  const ordered = logs.toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
  return ordered.flatMap((log, at) => {
    const block = blocks.get(log.blockNumber)
    if (block?.hash !== log.blockHash) throw node.malformed('a log of a block that left the chain')
    const before = ordered[at - 1]
    if (before?.blockNumber === log.blockNumber && before.logIndex === log.logIndex)
      throw node.malformed('two logs with one index')
    return transferOf(node.chainId, log, block) ?? []
  })
}

function chunksOf<T>(values: readonly T[], size: number): readonly (readonly T[])[] {
  const count = Math.ceil(values.length / size)
  return Array.from({ length: count }, (_, at) => values.slice(at * size, (at + 1) * size))
}
