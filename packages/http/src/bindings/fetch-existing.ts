import type { OpenGate } from '../gate-types.ts'
import { parseJsonObject } from '../request/body.ts'
import type { OpenCall } from '../route/handler-types.ts'
import { startCall, type IncomingRequest } from '../route/perform.ts'
import type { StartedCall, Route } from '../route/steps.ts'
import { withJson } from './fetch-body.ts'
import { capture, toResponse, withResponseFields } from './fetch-response.ts'

/** The calls of requests that were started, for `FetchGate.call`. */
export type FetchCalls = WeakMap<Request, { readonly route: object; readonly call: OpenCall }>

/** A request of a fetch server. */
export type IncomingFetch = IncomingRequest & { readonly request: Request }

/** What an existing handler returns. Undefined only on Bun, where `server.upgrade(request)` has made the connection a WebSocket. */
export type MaybeResponse = Response | undefined

/**
 * Guards an existing handler: on an idempotent route its response is captured. Records the call in `calls` before it.
 * `thrown` returns what the handler has thrown, for servers that respond to such an error themselves.
 */
export async function guardExisting<C extends OpenCall>(
  gate: OpenGate,
  calls: FetchCalls,
  route: Route<C>,
  received: IncomingFetch,
  existing: (call: C, request: Request) => MaybeResponse | Promise<MaybeResponse>,
  thrown?: () => unknown,
): Promise<Response> {
  let { request } = received
  const readBody = async (): ReturnType<IncomingRequest['readBody']> => {
    const bytes = await received.readBody()
    const parsed = bytes.ok
      ? parseJsonObject(bytes.value, request.headers.get('content-type') ?? undefined)
      : bytes
    return parsed.ok ? bytes : parsed
  }
  const replaceBody = (fields: Record<string, unknown>): void => {
    request = withJson(request, fields)
    gate.adopt(request, received.request)
  }
  const started = await startCall(gate, route, { ...received, readBody, replaceBody }, true)
  if (!started.ok) return toResponse(started.response)
  const { value } = started
  const { call, fields } = value
  calls.set(request, { route, call })
  const asksWebSocket = request.headers.get('upgrade')?.toLowerCase() === 'websocket'
  const run = async (): Promise<Response> =>
    checkedResponse(route.operation, await existing(call, request), asksWebSocket)
  const response = await runExisting(run, value)
  if (isTakenOver(response)) {
    if (route.idempotent) await value.failed({ error: takenOverError(route.operation), status: 101 })
    else value.sent(101)
    return response
  }
  const error = thrown?.()
  if (error !== undefined) {
    await value.failed({ error, status: response.status })
    return withResponseFields(response, fields)
  }
  if (route.idempotent) {
    const captured = await capture(response, route.operation, value, gate.settings.responseLimitBytes)
    return withResponseFields(captured, fields)
  }
  // The helpers of Hono for Bun and Node return an empty response once the connection is a WebSocket.
  const isWebSocket = asksWebSocket && response.status === 200 && response.body === null
  value.sent(isWebSocket ? 101 : response.status)
  return withResponseFields(response, fields)
}

/** Runs an existing handler. If it throws or returns no response, ends the run as failed, and the server renders the error. */
async function runExisting(
  existing: () => Promise<Response>,
  { failed }: Pick<StartedCall<never>, 'failed'>,
): Promise<Response> {
  try {
    return await existing()
  } catch (error) {
    await failed({ error, status: 500 })
    throw error
  }
}

function checkedResponse(operation: string, response: MaybeResponse, asksWebSocket: boolean): Response {
  if (typeof response?.status === 'number') return response
  // Bun wants exactly this.
  if (response === undefined && asksWebSocket) return response as unknown as Response
  const got = response === undefined ? 'nothing: a return is missing' : typeof response
  throw new TypeError(`${operation}: the handler must return a Response, got ${got}`)
}

/** Whether the connection speaks another protocol now: Deno and Workers return 101 then, Bun nothing. */
const isTakenOver = (response: MaybeResponse): boolean => response === undefined || response.status === 101

function takenOverError(operation: string): TypeError {
  return new TypeError(
    `${operation} made the connection a WebSocket: an idempotent operation must return a response that can be stored`,
  )
}
