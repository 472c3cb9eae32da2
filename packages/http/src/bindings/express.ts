import { checkOptions, shared } from '@gatewright/kernel/internal'
import { captureNode } from './capture-node.ts'
import type { ConnectGate, ConnectListener, ConnectRequest, RoutedRequest } from './connect-types.ts'
import { keepOriginalUrl, noteError, noteStart, watchHandlers } from './express-errors.ts'
import { nodeFacts, splitTarget } from '../request/facts.ts'
import type { OpenGate } from '../gate-types.ts'
import { assertGate } from './mount-checks.ts'
import { BODY_CHOICES, bodyReader, type BodyAccess, type BodyChoice } from './node-body.ts'
import { addFields, connectionOf, onSent, sendWire, type NodeResponse } from './node-response.ts'
import { guarding } from '../route/guarding.ts'
import type { Handler, OpenCall } from '../handler-types.ts'
import { checkedGuardingRoute, perform, runOf, startRun } from '../route/perform.ts'
import type { IncomingRequest, Route, StepResult } from '../route/steps.ts'

export type { ConnectGate } from './connect-types.ts'
export type { BodyChoice } from './node-body.ts'
export type { OpenGate } from '../gate-types.ts'

const rawBodies: WeakMap<object, Uint8Array> = shared('express.rawBodies', () => new WeakMap())

/** Keeps the bytes that the body parser read, for `body: 'kept'`: `express.json({ verify: keepRawBody })`. */
export function keepRawBody(request: object, _response: unknown, bytes: Uint8Array): void {
  rawBodies.set(request, bytes)
}

/**
 * Nest (with `rawBody: true`, which `gatewright/nest` sets) and Cloud Functions keep the bytes in `request.rawBody`. A string there is
 * ignored, because decoding may have lost bytes.
 */
const bytesOf = (rawBody: unknown): Uint8Array | undefined =>
  rawBody instanceof Uint8Array ? rawBody : undefined

const access: BodyAccess<RoutedRequest> = {
  node: request => request,
  kept: request => rawBodies.get(request) ?? bytesOf(request.rawBody),
  keeping:
    'app.use(express.json({ verify: keepRawBody })), or a platform that sets request.rawBody (Nest with rawBody: true),',
  parser: 'express.json()',
  // body-parser sets it for every request: {} or undefined. Adapters of serverless platforms set bytes or a text.
  hasParser: request => 'body' in request && (request.body === undefined || isPlain(request.body)),
  parsed: request => request.body,
  assign(request, value) {
    request.body = value
  },
}

const isPlain = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && Object.getPrototypeOf(body) === Object.prototype

/** Returns path parameters as texts: the segments of a wildcard as Express 4 gives them, joined by `/`. */
function textsOf(params: RoutedRequest['params'] = {}): Record<string, string> {
  const entries = Object.entries(params)
  if (!entries.some(([, value]) => Array.isArray(value))) return params as Record<string, string>
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Array.isArray(value) ? value.join('/') : value]),
  )
}

/** Binds a gate to Express 4 and 5, Connect and plain node http (HTTP/1 and HTTP/2). Throws a `TypeError` without a gate or `body`. */
export function expressGate(gate: OpenGate, options: { readonly body: BodyChoice }): ConnectGate {
  assertGate('expressGate', gate)
  const { body } = checkOptions('expressGate', options, { body: { is: BODY_CHOICES } })
  const read = bodyReader(body, gate.settings, access)
  const calls = new WeakMap<object, { route: object; call: OpenCall }>()
  const facts =
    (request: ConnectRequest): IncomingRequest['facts'] =>
    () =>
      // An Express router removes its mount path from `url`.
      nodeFacts(request, gate.settings.trusted, request.originalUrl)
  const incoming = (
    request: ConnectRequest,
    response: NodeResponse,
    isExisting: boolean,
  ): IncomingRequest => {
    const { params, route } = request as RoutedRequest
    read.enter(request)
    return {
      request,
      facts: facts(request),
      params: textsOf(params),
      pattern: route?.path,
      readBody: () => (isExisting ? read.forHandler(request) : read.bytes(request)),
      replaceBody: isExisting ? fields => access.assign(request, fields) : undefined,
      connection: connectionOf(response),
    }
  }

  const accept = async <C extends OpenCall>(
    route: Route<C>,
    request: ConnectRequest,
    response: NodeResponse,
  ): Promise<StepResult<Accepted<C>>> => {
    const received = incoming(request, response, true)
    const accepted = await acceptRequest(gate, route, received, { request, response })
    if (accepted.ok) calls.set(request, { route, call: accepted.value.call })
    return accepted
  }

  return {
    aliases(request, response, next) {
      if (request.baseUrl)
        throw new TypeError(
          `aliases must be mounted on the application itself: app.use(aliases), not in a router below ${request.baseUrl}`,
        )
      const entered = gate.enter(request, () => nodeFacts(request, gate.settings.trusted))
      if (!entered.ok) return sendWire(response, entered.response)
      addFields(response, entered.value.fields())
      const [path, search] = splitTarget(request.url ?? '')
      if (entered.value.facts.path !== path) {
        keepOriginalUrl(request)
        request.url = entered.value.facts.path + search
      }
      next()
    },

    handle<C extends OpenCall>(route: Route<C>, handler?: Handler<C>): ConnectListener {
      const run = runOf(route, handler)
      read.mounted(route)
      return guarding(route.operation, (request, response) => {
        const received = incoming(request, response, false)
        perform(gate, route, received, run)
          .then(output => sendWire(response, output))
          .catch((error: unknown) => abandon(gate, route.operation, response, error))
      })
    },

    guard(route) {
      read.mounted(checkedGuardingRoute(route))
      return guarding(route.operation, (request, response, next) => {
        pass(accept(route, request, response), response, next).catch((error: unknown) =>
          abandon(gate, route.operation, response, error),
        )
      })
    },

    async accept(route, request, response) {
      checkedGuardingRoute(route)
      const accepted = await accept(route, request, response)
      return accepted.ok ? { ok: true, value: accepted.value.call } : accepted
    },

    failed: noteError,
    started: noteStart,

    session: request => gate.session(request, facts(request)),

    call<C extends OpenCall>(route: Route<C>, request: ConnectRequest): C {
      const known = calls.get(request)
      if (known?.route !== route)
        throw new TypeError(`${route.operation}: mount its middleware before the handler`)
      return known.call as C
    },
  }
}

/** A request that an existing handler may see. */
interface Accepted<C> {
  readonly call: C
  /** Calls what comes after the guard, and returns what it returned. Errors pass. */
  start(next: () => unknown): unknown
  /** Ends the run of a handler that threw. */
  fail(error: unknown): Promise<void>
}

/**
 * Calls `next` for an accepted request, and responds to any other. An error is never passed to `next`, since the callback of a
 * plain node http server may continue on every call. If `next` throws, or the promise that it returns rejects, the gate responds with the
 * failure; on an idempotent route the outcome is then unknown.
 */
async function pass(
  accepting: Promise<StepResult<Accepted<OpenCall>>>,
  response: NodeResponse,
  next: () => unknown,
): Promise<void> {
  const accepted = await accepting
  if (!accepted.ok) return sendWire(response, accepted.response)
  try {
    await accepted.value.start(next)
  } catch (error) {
    await accepted.value.fail(error)
  }
}

/** Runs all steps before an existing handler, and captures its response on an idempotent route. */
async function acceptRequest<C extends OpenCall>(
  gate: OpenGate,
  route: Route<C>,
  incoming: IncomingRequest,
  { request, response }: { readonly request: ConnectRequest; readonly response: NodeResponse },
): Promise<StepResult<Accepted<C>>> {
  const started = await startRun(gate, route, incoming)
  if (!started.ok) return started
  const { value: run } = started
  const { call } = run
  addFields(response, run.fields())
  if (route.idempotent) {
    const watched = watchHandlers(request)
    const fail = captureNode({ response, route, run, settings: gate.settings, watched })
    return { ok: true, value: { call, fail, start: watched.start } }
  }
  onSent(request, response, incoming.connection, status => gate.sent(run.context, status))
  const fail = async (error: unknown): Promise<void> =>
    sendWire(response, await run.finish({ kind: 'failure', error }))
  return { ok: true, value: { call, fail, start: next => next() } }
}

/** Handles an error of sending, which would otherwise end the process: sends a bare 500 if nothing has been sent. */
function abandon({ settings }: OpenGate, operation: string, response: NodeResponse, error: unknown): void {
  settings.report({ operation, error })
  if (response.headersSent) return
  response.statusCode = 500
  response.end()
}
