import type { OpenGate } from '../gate-types.ts'
import { parseJsonObject } from '../request/body.ts'
import type { OpenCall } from '../handler-types.ts'
import { startRun } from '../route/perform.ts'
import { hadNoEffect } from '../response/no-effect.ts'
import { isRedirect, thrownResponse } from '../response/thrown-response.ts'
import type { Run } from '../route/run.ts'
import type { IncomingRequest, Route } from '../route/steps.ts'
import { streamError } from './captured-response.ts'
import { withJson } from './fetch-body.ts'
import type { MaybeResponse } from './fetch-types.ts'
import type { HonoWatch } from './hono-watch.ts'
import { capture, toResponse, withResponseFields } from './fetch-response.ts'

/** The calls of requests that were started, for `FetchGate.call`. */
export type FetchCalls = WeakMap<Request, { readonly route: object; readonly call: OpenCall }>

/** A request of a fetch server. */
export type IncomingFetch = IncomingRequest & { readonly request: Request }

/** An existing handler, and for Hono what is known about its response. */
export interface ExistingHandler<C = never> {
  call(call: C, request: Request): MaybeResponse | Promise<MaybeResponse>
  watch?(): HonoWatch | undefined
  /** Returns what the handler has thrown, for servers that respond to such an error themselves. */
  thrown?(): unknown
}

/** Guards an existing handler: on an idempotent route its response is captured. Records the call in `calls` before it. */
export async function guardExisting<C extends OpenCall>(
  { gate, calls }: { readonly gate: OpenGate; readonly calls: FetchCalls },
  route: Route<C>,
  received: IncomingFetch,
  existing: ExistingHandler<C>,
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
  const started = await startRun(gate, route, { ...received, readBody, replaceBody })
  if (!started.ok) return toResponse(started.response)
  const { value: run } = started
  const { call, context } = run
  const fields = run.fields()
  calls.set(request, { route, call })
  const asksWebSocket = request.headers.get('upgrade')?.toLowerCase() === 'websocket'
  const handle = async (): Promise<Response> => {
    const response = await existing.call(call, request)
    // The handler has made none, and other code has responded.
    if (response === undefined && existing.watch?.()?.isReplaced) return new Response(null, { status: 503 })
    return checkedResponse(route.operation, response, asksWebSocket)
  }
  const response = await runExisting(handle, run)
  if (isTakenOver(response)) {
    if (route.idempotent) await run.fail({ error: takenOverError(route.operation), status: 101 })
    else gate.sent(context, 101)
    return response
  }
  const error = existing.thrown?.()
  if (error !== undefined && !isRedirect(error)) {
    await run.fail({ error, status: response.status })
    return withResponseFields(response, fields)
  }
  if (route.idempotent) {
    const limitBytes = gate.settings.responseLimitBytes
    const recorded = await record({ route, run, limitBytes }, response, existing.watch?.())
    return withResponseFields(recorded, fields)
  }
  // The helpers of Hono for Bun and Node return an empty response once the connection is a WebSocket.
  const isWebSocket = asksWebSocket && response.status === 200 && response.body === null
  gate.sent(context, isWebSocket ? 101 : response.status)
  return withResponseFields(response, fields)
}

/** Ends the run of an idempotent operation with the response of its handler, and returns the response to send. */
async function record(
  {
    route,
    run,
    limitBytes,
  }: { route: Pick<Route<never>, 'operation' | 'noEffectStatuses'>; run: Run<unknown>; limitBytes: number },
  response: Response,
  watch: HonoWatch | undefined,
): Promise<Response> {
  const { operation, noEffectStatuses } = route
  const { status } = response
  if (watch?.stream) {
    // The body may have failed already, or have another reader.
    void response.body?.cancel().catch(() => {})
    const error = streamError(operation, watch.stream)
    return toResponse(await run.finish({ kind: 'failure', error }))
  }
  if (!watch || status < 400 || (watch.hasEnded() && !watch.isReplaced))
    return capture(response, operation, run, limitBytes)
  if (!watch.isReplaced && hadNoEffect(noEffectStatuses, { status })) await run.fail({ status })
  else {
    await run.leaveUnknown(status)
    watch.leave(late => {
      if (late.status < 400) void capture(late, operation, run, limitBytes)
    })
  }
  return response
}

/** Runs an existing handler. A response that it throws is as one that it returns. If it throws anything else or returns no response, ends the run as failed, and the server renders the error. */
async function runExisting(existing: () => Promise<Response>, run: Run<unknown>): Promise<Response> {
  try {
    return await existing()
  } catch (error) {
    const response = thrownResponse(error)
    if (response) return response
    await run.fail({ error, status: 500 })
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
