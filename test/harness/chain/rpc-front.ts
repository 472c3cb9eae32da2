import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One question of a JSON-RPC request. */
export interface RpcCall {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** What a node returns for one call. */
export type RpcEntry = { readonly result: unknown } | { readonly error: unknown }

/** A JSON-RPC endpoint between a reader and a real node, which can reply as bad endpoints do. */
export interface RpcFront {
  readonly url: string
  /** The questions so far, by HTTP request. */
  readonly requests: RpcCall[][]
  /** Makes the reply to one call; `real` asks the node. At first what the node says. */
  response: (call: RpcCall, real: () => Promise<RpcEntry>) => RpcEntry | Promise<RpcEntry>
  /** Responds to the whole HTTP request instead, when set. */
  raw: ((response: ServerResponse) => void) | undefined
  close(): Promise<void>
}

/** Starts the endpoint on a free port of loopback, before the node at `target`. */
export async function rpcFront(target: string): Promise<RpcFront> {
  const ask = async (call: RpcCall): Promise<RpcEntry> => {
    const body = JSON.stringify({ ...call, jsonrpc: '2.0' })
    const reply = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    return (await reply.json()) as RpcEntry
  }
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = JSON.parse(Buffer.concat(chunks).toString()) as RpcCall | RpcCall[]
      const calls = [body].flat()
      front.requests.push(calls)
      if (front.raw) return front.raw(response)
      const entries: object[] = []
      for (const call of calls)
        entries.push({ jsonrpc: '2.0', ...(await front.response(call, () => ask(call))), id: call.id })
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(Array.isArray(body) ? entries : entries[0]))
    })()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const front: RpcFront = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    response: (_, real) => real(),
    raw: undefined,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return front
}
