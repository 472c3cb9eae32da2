import type { RpcClient } from '@gatewright/signature-verifier/internal'
import { jsonRpc, type JsonRpc } from './json-rpc.ts'

/** The JSON-RPC endpoint of a chain. */
export interface ChainUrl {
  readonly chainId: number
  readonly url: string
}

/** How long a call may take, in ms. */
const TIMEOUT_MS = 10_000

/**
 * Creates the clients that check signatures of contract wallets on each chain. Each call is one HTTP request
 * without retries: the verifier bounds the wait and turns every failure into a fault. `timeoutMs` is for tests.
 */
export function rpcClients(
  chains: readonly ChainUrl[],
  timeoutMs: number = TIMEOUT_MS,
): Readonly<Record<number, RpcClient>> {
  return Object.fromEntries(
    chains.map(({ chainId, url }) => [chainId, createRpcClient(jsonRpc(chainId, url), timeoutMs)]),
  )
}

function createRpcClient(ask: JsonRpc, timeoutMs: number): RpcClient {
  return {
    async request(call) {
      const [result] = await ask([call], AbortSignal.timeout(timeoutMs))
      return result
    },
  }
}
