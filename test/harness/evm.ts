import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { freePort } from './services.ts'

const require = createRequire(import.meta.url)

/** A development chain on loopback, and what stops it. */
export interface Evm {
  readonly url: string
  readonly chainId: number
  stop(): Promise<void>
}

/** Starts a Hardhat node (Prague rules, a block per transaction) on a free port. */
export async function startEvm(chainId = 31_337): Promise<Evm> {
  const directory = mkdtempSync(join(tmpdir(), 'gatewright-evm-'))
  const config = join(directory, 'hardhat.config.cjs')
  const network = { hardhat: { chainId, hardfork: 'prague' } }
  writeFileSync(config, `module.exports = ${JSON.stringify({ solidity: '0.8.30', networks: network })}`)
  const port = await freePort()
  const cli = join(dirname(require.resolve('hardhat/package.json')), 'internal/cli/cli.js')
  const args = [cli, '--config', config, 'node', '--hostname', '127.0.0.1', '--port', String(port)]
  const env = { ...process.env, HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true', CI: 'true' }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
    rmSync(directory, { recursive: true, force: true })
  }
  let output = ''
  const ready = new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += chunk.toString()
      if (output.includes('Started HTTP')) resolve()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    void ended.then(() => reject(new Error(`the chain ended: ${output}`)))
    setTimeout(() => reject(new Error(`the chain did not start in 60 s: ${output}`)), 60_000).unref()
  })
  await ready.catch(async (error: unknown) => {
    await stop()
    throw error
  })
  return { url: `http://127.0.0.1:${port}`, chainId, stop }
}

/** One JSON-RPC request; throws what the node answers as an error. */
export async function rpc<T = `0x${string}`>(url: string, method: string, ...params: unknown[]): Promise<T> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const { result, error } = (await answer.json()) as { result: T; error?: { message: string } }
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
  const hash = await rpc(url, 'eth_sendTransaction', { from, ...transaction })
  return rpc(url, 'eth_getTransactionReceipt', hash)
}

/** Mines empty blocks; a waiting transaction goes into the first. */
export async function mine(url: string, blocks = 1): Promise<void> {
  await rpc(url, 'hardhat_mine', `0x${blocks.toString(16)}`)
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
  try {
    return await work()
  } finally {
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

interface Solc {
  compile(input: string): string
}

interface SolcOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[]
  readonly contracts: Record<string, Record<string, { evm: { bytecode: { object: string } } }>>
}

/** Compiles a Solidity file with the pinned compiler, settings as for SignatureCheck: creation code by contract. */
export function compileSolidity(file: string): Record<string, `0x${string}`> {
  const solc = require('solc') as Solc
  const settings = {
    evmVersion: 'paris',
    optimizer: { enabled: true, runs: 1 },
    metadata: { appendCBOR: false, bytecodeHash: 'none' },
    outputSelection: { '*': { '*': ['evm.bytecode.object'] } },
  }
  const sources = { file: { content: readFileSync(file, 'utf8') } }
  const input = JSON.stringify({ language: 'Solidity', sources, settings })
  const output = JSON.parse(solc.compile(input)) as SolcOutput
  const failed = output.errors?.find(error => error.severity === 'error')
  if (failed) throw new Error(failed.formattedMessage)
  const contracts = Object.entries(output.contracts['file'] ?? {})
  return Object.fromEntries(contracts.map(([name, { evm }]) => [name, `0x${evm.bytecode.object}`] as const))
}
