import { spawn } from 'node:child_process'
import { anvilBinary } from '../binaries.ts'
import { freePort, printed } from '../services.ts'

/** The mnemonic of the accounts that a development chain holds and funds. */
export const DEVELOPMENT_MNEMONIC = 'test test test test test test test test test test test junk'

/** A development chain on loopback, and what stops it. */
export interface Evm {
  readonly url: string
  readonly chainId: number
  stop(): Promise<void>
}

/** Starts an Anvil node (Prague rules, a block per transaction, 20 funded accounts) on a free port. */
export async function startEvm(chainId = 31_337): Promise<Evm> {
  const port = await freePort()
  const args = ['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(chainId)]
  const chain = ['--hardfork', 'prague', '--accounts', '20', '--mnemonic', DEVELOPMENT_MNEMONIC]
  const child = spawn(anvilBinary(), [...args, ...chain], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  await printed(child, 'Listening on').catch(async (error: unknown) => {
    await stop()
    throw error
  })
  return { url: `http://127.0.0.1:${port}`, chainId, stop }
}

/** One JSON-RPC request; throws what the node returns as an error. */
export async function rpc<T = `0x${string}`>(url: string, method: string, ...params: unknown[]): Promise<T> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(60_000) })
  const { result, error } = (await response.json()) as { result: T; error?: { message: string } }
  if (error) throw new Error(`${method}: ${error.message}`)
  return result
}

/** Sends a transaction from one of the chain's 20 accounts, by default the first, and returns its receipt. */
export async function transact(
  url: string,
  transaction: { readonly data: string; readonly to?: string },
  account = 0,
): Promise<{ contractAddress: `0x${string}`; status: string }> {
  const from = (await rpc<string[]>(url, 'eth_accounts'))[account]
  const hash = await sendTransaction(url, { from, ...transaction })
  return rpc(url, 'eth_getTransactionReceipt', hash)
}

/** Chains that mine on demand for now. */
const paused = new Set<string>()

/** The newest transaction of each account. */
const newest = new Map<string, Promise<unknown>>()

/**
 * Sends a transaction and resolves to its hash: once it is mined, or at once where blocks are mined on demand. Those of one account
 * are sent one after the other: the node gives two that arrive at once the same nonce, and refuses one of them.
 */
export async function sendTransaction(
  url: string,
  transaction: Readonly<Record<string, unknown>>,
): Promise<`0x${string}`> {
  const account = `${url} ${String(transaction['from'])}`
  const before = newest.get(account)?.catch(() => {})
  const sent = Promise.resolve(before).then(() => sendNow(url, transaction))
  newest.set(account, sent)
  return sent
}

async function sendNow(url: string, transaction: object): Promise<`0x${string}`> {
  if (paused.has(url)) return rpc(url, 'eth_sendTransaction', transaction)
  const receipt = await rpc<{ transactionHash: `0x${string}` }>(url, 'eth_sendTransactionSync', transaction)
  return receipt.transactionHash
}

/** Mines empty blocks; a waiting transaction goes into the first. */
export async function mine(url: string, blocks = 1): Promise<void> {
  await rpc(url, 'anvil_mine', `0x${blocks.toString(16)}`)
}

/** Stamps the next block with a time in whole seconds, later than the newest block's. */
export async function stampNextBlock(url: string, at: number): Promise<void> {
  await rpc(url, 'evm_setNextBlockTimestamp', Math.floor(at / 1000))
}

/** When the newest block was stamped, in ms. */
export async function newestBlockTime(url: string): Promise<number> {
  const { timestamp } = await rpc<{ timestamp: string }>(url, 'eth_getBlockByNumber', 'latest', false)
  return Number(timestamp) * 1000
}

/** Runs `work` with blocks mined only on demand, so that several transactions share one. */
export async function withoutMining<T>(url: string, work: () => Promise<T>): Promise<T> {
  await rpc(url, 'evm_setAutomine', false)
  paused.add(url)
  try {
    return await work()
  } finally {
    paused.delete(url)
    await rpc(url, 'evm_setAutomine', true)
  }
}

/** Remembers the chain as it is; what it returns takes all later blocks and transactions away, once. */
export async function snapshot(url: string): Promise<() => Promise<void>> {
  const id = await rpc(url, 'evm_snapshot')
  return async () => {
    if (!(await rpc<boolean>(url, 'evm_revert', id))) throw new Error('the snapshot was used already')
  }
}
