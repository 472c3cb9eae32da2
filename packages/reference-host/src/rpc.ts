import type { RpcClient } from '@gatewright/signature-verifier'

/** The JSON-RPC endpoint of a chain. */
export interface ChainUrl {
  readonly chainId: number
  readonly url: string
}

/**
 * Clients of the chains that contract wallets are asked on. One HTTP request per question, no retries: the verifier
 * bounds the wait and turns every failure into a fault.
 */
export function rpcClients(chains: readonly ChainUrl[]): Readonly<Record<number, RpcClient>> {
  return Object.fromEntries(chains.map(({ chainId, url }) => [chainId, rpcClient(url)]))
}

function rpcClient(url: string): RpcClient {
  return {
    async request({ method, params }) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        redirect: 'error',
        signal: AbortSignal.timeout(10_000),
      })
      const reply = (await response.json()) as { result?: unknown; error?: { message?: unknown } }
      if (reply.error) throw new Error(`the RPC endpoint answered an error: ${String(reply.error.message)}`)
      return reply.result
    },
  }
}
