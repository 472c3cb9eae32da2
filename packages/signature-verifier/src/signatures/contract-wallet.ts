import {
  Fault,
  integerOption,
  knownOptions,
  type OptionNames,
  type REFUSED,
  runQueued,
} from '@gatewright/kernel'
import { isAddress } from './address.ts'
import { checkedQueue } from '../queue-options.ts'
import type { UnwrappedSignature } from './erc6492.ts'
import { SIGNATURE_CHECK } from './signature-check.ts'
import { loadViem } from './viem.ts'

type Hex = `0x${string}`

/** What is asked of a chain: one JSON-RPC request (EIP-1193). A viem client fits as it is. */
export interface RpcClient {
  request(args: {
    method: 'eth_call'
    params: readonly [transaction: { readonly data: Hex; readonly gas: Hex }, block: 'latest']
  }): Promise<unknown>
}

/** A chain whose contract wallets may prove themselves. */
export interface ContractWalletChain {
  readonly rpc: RpcClient
  /**
   * Factories that may deploy a wallet in simulation (ERC-6492), as addresses in any case. Default none: a factory
   * is code that the signer names, and what it does in simulation, such as buying the token that a wallet
   * belongs to, costs nothing.
   */
  readonly factories?: readonly string[]
}

const CHAIN: OptionNames<ContractWalletChain> = {
  rpc: true,
  factories: true,
}

/** Contract wallets: which chains, and bounds on asking them. */
export interface ContractWalletOptions {
  /** By chain id. Only these are asked. */
  readonly chains: Readonly<Record<number, ContractWalletChain>>
  /** Longest wait for an answer in ms, queue included, 100 to 30 000. Default 5 000. */
  readonly timeoutMs?: number
  /** Questions under way at once, 1 to 1024. Default 16. */
  readonly atOnce?: number
  /** Questions that may wait, 1 to 65 536. Default 64. */
  readonly waiting?: number
  /** Questions of one address class that may wait, 1 to `waiting`. Default 8. */
  readonly waitingPerClass?: number
}

const OPTIONS: OptionNames<ContractWalletOptions> = {
  chains: true,
  timeoutMs: true,
  atOnce: true,
  waiting: true,
  waitingPerClass: true,
}

/** Asks wallets on allow-listed chains. */
export interface ContractWallets {
  /** Whether the chain (decimal text) is on the list. */
  has(chainId: string): boolean
  /**
   * Whether the wallet stands by the signature over `hash`, by ERC-1271, deployed in simulation by ERC-6492 if it
   * does not exist yet and the wrapper's factory is on the chain's list. One `eth_call`, so one block; nothing is
   * cached. `REFUSED` over the cap of a class.
   * Faults: `ERR_RPC_UNAVAILABLE` (down, slow, garbled, or another chain), `ERR_OVERLOADED`.
   */
  standsBy(question: Question): Promise<boolean | typeof REFUSED>
}

/** One question to one wallet. */
export interface Question {
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
/** Enough for a wallet that checks a passkey in Solidity; each of factory and wallet gets a third. */
const GAS = '0xb71b00'

/** Checks the options and makes the asking part. Throws a `TypeError` for an option out of bounds. */
export function contractWallets(options: ContractWalletOptions): ContractWallets {
  knownOptions('createVerifier contractWallets', options, OPTIONS)
  const timeoutMs = integerOption('contractWallets.timeoutMs', options.timeoutMs ?? 5000, 100, 30_000)
  const { atOnce = 16, waiting, waitingPerClass } = options
  const queue = checkedQueue('contractWallets', { atOnce, waiting, waitingPerClass }, Infinity)
  const chains = checkedChains(options.chains)
  // So that the first question does not wait for it. A failure is that question's.
  loadViem().catch(() => {})
  return {
    has: chainId => chains.has(chainId),
    async standsBy({ chainId, wallet, hash, unwrapped, addressBucket }) {
      const chain = chains.get(chainId) as Chain
      const { factory, data: call } = allowedDeployment(chain, unwrapped)
      const { bytesToHex, concatHex, encodeAbiParameters } = await loadViem()
      const [question, signature] = [bytesToHex(hash), bytesToHex(unwrapped.signature)]
      const values = [wallet as Hex, question, signature, factory as Hex, bytesToHex(call)] as const
      const data = concatHex([SIGNATURE_CHECK, encodeAbiParameters(ARGUMENTS, values)])
      const limit = timeLimit(timeoutMs)
      try {
        return await limit.race(() =>
          runQueued(queue, addressBucket, () => limit.race(() => ask(chain, data)), undefined),
        )
      } finally {
        limit.stop()
      }
    },
  }
}

function checkedChains(chains: ContractWalletOptions['chains']): Map<string, Chain> {
  if (typeof chains !== 'object' || chains === null)
    throw new TypeError('contractWallets.chains must be given')
  const checked = new Map<string, Chain>()
  for (const [key, chain] of Object.entries(chains)) {
    const id = integerOption('contractWallets.chains key', Number(key), 1, Number.MAX_SAFE_INTEGER)
    const { rpc, factories = [] } = knownOptions(`createVerifier contractWallets.chains.${id}`, chain, CHAIN)
    if (typeof rpc?.request !== 'function')
      throw new TypeError(`contractWallets.chains.${id}.rpc must have request()`)
    const wrong = factories.find(factory => !isAddress(factory))
    if (wrong !== undefined) throw new TypeError(`contractWallets.chains.${id}.factories must be addresses`)
    checked.set(String(id), { id, rpc, factories: new Set(factories.map(factory => factory.toLowerCase())) })
  }
  return checked
}

/** A factory that is not on the chain's list is left out: the signature then holds only for a wallet that exists. */
function allowedDeployment(
  { factories }: Chain,
  { deployment }: UnwrappedSignature,
): NonNullable<UnwrappedSignature['deployment']> {
  return deployment && factories.has(deployment.factory) ? deployment : NO_DEPLOYMENT
}

async function ask(chain: Chain, data: Hex): Promise<boolean> {
  let reply: unknown
  try {
    reply = await chain.rpc.request({ method: 'eth_call', params: [{ data, gas: GAS }, 'latest'] })
  } catch (cause) {
    throw unavailable('failed', cause)
  }
  if (typeof reply !== 'string' || !/^0x[0-9a-fA-F]{192}$/.test(reply))
    throw unavailable('sent a garbled answer')
  const [answer, chainId] = [BigInt(reply.slice(0, 66)), BigInt(`0x${reply.slice(66, 130)}`)]
  if (chainId !== BigInt(chain.id)) throw unavailable('is of another chain')
  if (answer !== 0n && answer !== 1n) throw unavailable('sent a garbled answer')
  return answer === 1n
}

function unavailable(what: string, cause?: unknown): Fault {
  return new Fault('ERR_RPC_UNAVAILABLE', `rpc ${what}`, { cause, retryAfterSeconds: 5 })
}

/** One deadline for waiting and working. After it nothing starts, and what runs is no longer waited for. */
function timeLimit(ms: number): { race<T>(work: () => T | Promise<T>): Promise<T>; stop(): void } {
  let over: Fault | undefined
  let end: (fault: Fault) => void
  const ended = new Promise<never>((_, reject) => {
    end = reject
  })
  const timer = setTimeout(() => {
    over = unavailable(`did not answer within ${ms} ms`)
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
