import { Fault } from '@gatewright/kernel'
import { integerOption, checkOptions, type QUEUE_FULL, runQueued } from '@gatewright/kernel/internal'
import { isAddress } from './address.ts'
import { createCheckQueue, queueLimits, type QueueLimits } from '../queue-options.ts'
import type { UnwrappedSignature } from './erc6492.ts'
import { SIGNATURE_CHECK } from './signature-check.ts'
import { loadViem } from './viem.ts'

type Hex = `0x${string}`

/** The JSON-RPC client of a chain: one request method (EIP-1193). A viem client fits as it is. */
export interface RpcClient {
  request(args: {
    method: 'eth_call'
    params: readonly [transaction: { readonly data: Hex; readonly gas: Hex }, block: 'latest']
  }): Promise<unknown>
}

/** A chain whose contract wallets may sign. */
interface ContractWalletChain {
  readonly rpc: RpcClient
  /**
   * Addresses, in any case, of the factories that may deploy a wallet in the simulation (ERC-6492). Default none: a factory is
   * code that the signer chooses, and in a simulation its actions are free, for example buying the token that a wallet belongs
   * to.
   */
  readonly factories?: readonly string[]
}

/** Contract wallets: the chains, and bounds on the calls to them. */
export interface ContractWalletOptions extends QueueLimits {
  /** The chains by their id. No other chain is called. */
  readonly chains: Readonly<Record<number, ContractWalletChain>>
  /** Maximum wait for a reply, in ms, time in the queue included, 100 to 30 000, default 5000. */
  readonly timeoutMs?: number
  /** Maximum number of simultaneous checks, 1 to 1024, default 16. */
  readonly atOnce?: number
  /** Checks that may wait, 1 to 65 536, default 64. */
  readonly waiting?: number
  /** Checks of one address bucket that may wait, 1 to `waiting`. Default 8. */
  readonly waitingPerClass?: number
}

/** Checks signatures of contract wallets on allow-listed chains. */
interface ContractWallets {
  /** Whether the chain (decimal text) is on the list. */
  has(chainId: string): boolean
  /**
   * Whether the wallet accepts the signature over `hash` (ERC-1271). A wallet that does not exist yet is deployed in
   * simulation (ERC-6492) if the wrapper's factory is on the chain's list. One `eth_call`, so one block; nothing is
   * cached. `QUEUE_FULL` when too many checks of the address bucket are waiting. Faults: `ERR_RPC_UNAVAILABLE` (endpoint
   * down, slow, malformed reply, or another chain), `ERR_OVERLOADED`.
   */
  isValidSignature(check: WalletSignature): Promise<boolean | typeof QUEUE_FULL>
}

/** One signature to be checked by one wallet. */
interface WalletSignature {
  readonly chainId: string
  readonly wallet: string
  readonly hash: Uint8Array
  readonly unwrapped: UnwrappedSignature
  readonly addressBucket: string | undefined
}

interface Chain {
  readonly id: number
  readonly rpc: RpcClient
  readonly factories: ReadonlySet<string>
}

const ARGUMENTS = [
  { type: 'address' },
  { type: 'bytes32' },
  { type: 'bytes' },
  { type: 'address' },
  { type: 'bytes' },
] as const
const NO_DEPLOYMENT = { factory: `0x${'00'.repeat(20)}`, data: new Uint8Array() } as const
/** The gas limit: enough for a wallet that verifies a passkey in Solidity. Factory and wallet get a third each. */
const GAS = '0xb71b00'

/** Checks the options and creates the checker. Throws a `TypeError` for an option out of bounds. */
export function createContractWallets(given: ContractWalletOptions): ContractWallets {
  const where = 'createVerifier contractWallets'
  const options = checkOptions(where, given, {
    chains: { is: 'object' },
    timeoutMs: { min: 100, max: 30_000, default: 5000 },
    ...queueLimits(16),
  })
  const { timeoutMs } = options
  const queue = createCheckQueue(where, options, Infinity)
  const chains = checkedChains(options.chains)
  // Loaded now so that the first check does not wait for it. If loading fails, the first check reports it.
  loadViem().catch(() => {})
  return {
    has: chainId => chains.has(chainId),
    async isValidSignature({ chainId, wallet, hash, unwrapped, addressBucket }) {
      const chain = chains.get(chainId) as Chain
      const { factory, data: deployment } = allowedDeployment(chain, unwrapped)
      const { bytesToHex, concatHex, encodeAbiParameters } = await loadViem()
      const [hashHex, signature] = [bytesToHex(hash), bytesToHex(unwrapped.signature)]
      const values = [wallet as Hex, hashHex, signature, factory as Hex, bytesToHex(deployment)] as const
      const data = concatHex([SIGNATURE_CHECK, encodeAbiParameters(ARGUMENTS, values)])
      const limit = timeLimit(timeoutMs)
      try {
        return await limit.race(() =>
          runQueued(queue, addressBucket, () => limit.race(() => call(chain, data)), undefined),
        )
      } finally {
        limit.stop()
      }
    },
  }
}

function checkedChains(chains: ContractWalletOptions['chains']): Map<string, Chain> {
  const checked = new Map<string, Chain>()
  for (const [key, chain] of Object.entries(chains)) {
    const id = integerOption('contractWallets.chains key', Number(key), 1, Number.MAX_SAFE_INTEGER)
    const { rpc, factories = [] } = checkOptions(`createVerifier contractWallets.chains.${id}`, chain, {
      rpc: true,
      factories: true,
    })
    if (typeof rpc?.request !== 'function')
      throw new TypeError(`contractWallets.chains.${id}.rpc must have a function request()`)
    const wrong = factories.find(factory => !isAddress(factory))
    if (wrong !== undefined)
      throw new TypeError(
        `contractWallets.chains.${id}.factories must be addresses, got ${JSON.stringify(wrong)}`,
      )
    checked.set(String(id), { id, rpc, factories: new Set(factories.map(factory => factory.toLowerCase())) })
  }
  return checked
}

/**
 * Returns the deployment if its factory is on the chain's list. Without a deployment, only the signature of an existing wallet
 * is valid.
 */
function allowedDeployment(
  { factories }: Chain,
  { deployment }: UnwrappedSignature,
): NonNullable<UnwrappedSignature['deployment']> {
  return deployment && factories.has(deployment.factory) ? deployment : NO_DEPLOYMENT
}

async function call(chain: Chain, data: Hex): Promise<boolean> {
  let reply: unknown
  try {
    reply = await chain.rpc.request({ method: 'eth_call', params: [{ data, gas: GAS }, 'latest'] })
  } catch (cause) {
    throw unavailable('failed', cause)
  }
  if (typeof reply !== 'string' || !/^0x[0-9a-fA-F]{192}$/.test(reply))
    throw unavailable('sent a malformed reply')
  const [result, chainId] = [BigInt(reply.slice(0, 66)), BigInt(`0x${reply.slice(66, 130)}`)]
  if (chainId !== BigInt(chain.id)) throw unavailable('is of another chain')
  if (result !== 0n && result !== 1n) throw unavailable('sent a malformed reply')
  return result === 1n
}

function unavailable(what: string, cause?: unknown): Fault {
  return new Fault('ERR_RPC_UNAVAILABLE', `rpc ${what}`, { cause, retryAfterSeconds: 5 })
}

/**
 * Makes one deadline for the time in the queue and the call together. After it no call starts, and a running call is not
 * awaited.
 */
function timeLimit(ms: number): { race<T>(work: () => T | Promise<T>): Promise<T>; stop(): void } {
  let over: Fault | undefined
  let end: (fault: Fault) => void
  const ended = new Promise<never>((_, reject) => {
    end = reject
  })
  const timer = setTimeout(() => {
    over = unavailable(`did not reply within ${ms} ms`)
    end(over)
  }, ms)
  return {
    race: async work => {
      if (over) throw over
      return Promise.race([work(), ended])
    },
    stop: () => clearTimeout(timer),
  }
}
