import { Fault } from '@gatewright/kernel'
import { withDeadline } from '@gatewright/kernel/internal'

/** One call of a JSON-RPC request. */
export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/**
 * Sends calls in one HTTP request, as a JSON-RPC batch where there are several, and returns their results in
 * the same order. It does not retry. `signal` bounds the whole exchange, the response body included. Fault:
 * `ERR_RPC_UNAVAILABLE`, also when the node replies to one call of a batch with an error.
 */
export type JsonRpc = (calls: readonly RpcCall[], signal: AbortSignal) => Promise<readonly unknown[]>

/**
 * Creates a client of one JSON-RPC endpoint over HTTP. No fault shows the URL, which often holds an API key.
 */
export function jsonRpc(chainId: number, url: string): JsonRpc {
  return async (calls, signal) => {
    const bodies = calls.map((call, id) => ({ ...call, id }))
    const [only] = bodies
    const body = only && bodies.length === 1 ? only : bodies
    let reply: unknown
    try {
      reply = await withDeadline({ signal }, async within => {
        // Loaded by the first call, so that a host without chains starts sooner.
        const { getHttpRpcClient } = await import('viem/utils')
        // viem's own timeout ends when the response head arrives, so the caller's signal takes its place.
        const client = getHttpRpcClient(url, { timeout: 0 })
        return client.request({ body, fetchOptions: { redirect: 'error', signal: within } })
      })
    } catch (error) {
      throw unavailable(chainId, hide(url, signal.aborted ? 'no reply in time' : reason(error)))
    }
    const entries: unknown[] = Array.isArray(reply) ? reply : [reply]
    return bodies.map(({ id, method }) => {
      const entry = entries.find(each => isObject(each) && each['id'] === id)
      // An endpoint without batch support replies to the whole batch with one error.
      const error = errorOf(entry ?? (entries.length === 1 ? entries[0] : undefined))
      if (error !== undefined) throw unavailable(chainId, hide(url, `${method}: ${error}`))
      if (!isObject(entry) || !('result' in entry)) throw unavailable(chainId, `no result for ${method}`)
      return entry['result']
    })
  }
}

/** Makes the fault of a chain that is down, slow or sends malformed replies. `why` is for logs. */
export function unavailable(chainId: number, why: string): Fault {
  const cause = new Error(why)
  return new Fault('ERR_RPC_UNAVAILABLE', `rpc of chain ${chainId} failed`, { cause, retryAfterSeconds: 5 })
}

/** Whether a JSON value is an object. */
function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function errorOf(entry: unknown): string | undefined {
  if (!isObject(entry) || entry['error'] === undefined || entry['error'] === null) return undefined
  const { code, message } = isObject(entry['error']) ? entry['error'] : {}
  return `error ${String(code)}, ${String(message)}`.slice(0, 200)
}

/** Describes an error without viem's own message, which quotes the request and its URL. */
function reason(error: unknown): string {
  if (isObject(error) && typeof error['status'] === 'number') return `HTTP status ${error['status']}`
  let inner = error
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause
  return inner instanceof Error ? `${inner.name}: ${inner.message}` : 'an error without a message'
}

/**
 * Replaces every part of the endpoint's URL that is long enough to be a key, since error texts may repeat it.
 */
function hide(url: string, text: string): string {
  const parts = url.split(/[/?&=:@#]+/).filter(part => part.length >= 12)
  return parts.reduce((hidden, part) => hidden.replaceAll(part, '[hidden]'), text)
}
