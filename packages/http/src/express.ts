import { knownOptions } from '@gatewright/kernel'
import { captureNode } from './capture.ts'
import { keepOriginalUrl, watchErrors } from './express-errors.ts'
import { nodeFacts, splitTarget, type NodeRequest } from './facts.ts'
import type { OpenGate } from './gate-types.ts'
import { BODY_OPTION, checkGate } from './mounting.ts'
import { bodyReader, type BodyAccess, type BodyChoice } from './node-body.ts'
import { connectionOf, sendWire, setFields, type NodeResponse } from './node-response.ts'
import { admit, checkGuarding, noBody, perform, runOf, type Handler, type Incoming } from './perform.ts'
import type { CompleteRoute, OpenCall, Route } from './stages.ts'

/** A request of Express, Connect or plain node http. `body` is what a parser made of it. */
export interface ConnectRequest extends NodeRequest {
  body?: unknown
  originalUrl?: string
  /** Path parameters, as a router set them. */
  params?: Record<string, string>
}

export type { BodyChoice } from './node-body.ts'

/** Connect's middleware shape. */
export type ConnectMiddleware = (
  request: ConnectRequest,
  response: NodeResponse,
  next: (error?: unknown) => void,
) => void

/** A middleware that also serves as a plain node http listener. */
export type ConnectListener = (request: ConnectRequest, response: NodeResponse) => void

/** Mounts a gate's operations. */
export interface ConnectGate {
  /** Translates old names. Mount it before the router. */
  readonly aliases: ConnectMiddleware
  /** An operation whose handler returns its answer; a transactional one brings its handler along. */
  handle<C extends OpenCall>(route: CompleteRoute<C>): ConnectListener
  handle<C extends OpenCall>(route: Route<C>, handler: Handler<C>): ConnectListener
  /**
   * Guards an existing handler; of an idempotent route its answer is captured. Mount it in the route of that handler: where
   * `use` has mounted it, an answer of 400 or more may be that of an error handler, and leaves the outcome unknown.
   */
  guard<C extends OpenCall>(route: Route<C>): ConnectMiddleware
  /** The call of a request that `guard(route)` let pass. Throws a `TypeError` for any other. */
  call<C extends OpenCall>(route: Route<C>, request: ConnectRequest): C
}

const kept = new WeakMap<object, Uint8Array>()

/** For `express.json({ verify: keepRawBody })`: keeps the bytes that the parser read. */
export function keepRawBody(request: object, _response: unknown, bytes: Uint8Array): void {
  kept.set(request, bytes)
}

const access: BodyAccess<ConnectRequest> = {
  node: request => request,
  kept: request => kept.get(request),
  hint: 'use express.json({ verify: keepRawBody })',
  parser: 'express.json()',
  parsed: request => request.body,
  assign(request, value) {
    request.body = value
  },
}

/** Binds a gate to Express 4 and 5, Connect and plain node http (HTTP/1 and HTTP/2). Throws a `TypeError` without a gate or `body`. */
export function expressGate(gate: OpenGate, options: { readonly body: BodyChoice }): ConnectGate {
  checkGate('expressGate', gate)
  const { body } = knownOptions('expressGate', options, BODY_OPTION)
  const read = bodyReader(body, gate.settings.bodyLimitBytes, access)
  const calls = new WeakMap<object, { route: object; call: OpenCall }>()
  const facts =
    (request: ConnectRequest): Incoming['facts'] =>
    () =>
      // A router of Express cuts its mount path off `url`.
      nodeFacts(request, gate.settings.trusted, request.originalUrl)
  const incoming = (
    request: ConnectRequest,
    response: NodeResponse,
    readBody: Incoming['readBody'],
  ): Incoming => {
    const { params = {} } = request
    return { request, facts: facts(request), params, readBody, connection: connectionOf(response) }
  }

  return {
    aliases(request, response, next) {
      const entered = gate.enter(request, () => nodeFacts(request, gate.settings.trusted))
      if (!entered.ok) return sendWire(response, entered.answer)
      setFields(response, entered.value.fields())
      const [path, search] = splitTarget(request.url ?? '')
      if (entered.value.facts.path !== path) {
        keepOriginalUrl(request)
        request.url = entered.value.facts.path + search
      }
      next()
    },

    handle<C extends OpenCall>(route: Route<C>, handler?: Handler<C>): ConnectListener {
      const run = runOf(route, handler)
      return (request, response) => {
        const seen = incoming(request, response, () => read.bytes(request))
        perform(gate, route, seen, run)
          .then(answer => sendWire(response, answer))
          .catch((error: unknown) => abandon(gate, route.operation, response, error))
      }
    },

    guard(route) {
      checkGuarding(route)
      return (request, response, next) => {
        const readBody = route.idempotent ? () => read.forHandler(request) : noBody
        const seen = incoming(request, response, readBody)
        pass(gate, route, seen, { request, response }, call => {
          calls.set(request, { route, call })
          next()
        }).catch((error: unknown) => abandon(gate, route.operation, response, error))
      }
    },

    call<C extends OpenCall>(route: Route<C>, request: ConnectRequest): C {
      const held = calls.get(request)
      if (held?.route !== route)
        throw new TypeError(`${route.operation}: mount guard(route) before its handler`)
      return held.call as C
    },
  }
}

/**
 * Lets a request through to `next`, or answers it. An error never reaches `next`: a plain node http server may take
 * any call of it for a yes. What `next` throws at once ends the run.
 */
async function pass<C extends OpenCall>(
  gate: OpenGate,
  route: Route<C>,
  incoming: Incoming,
  { request, response }: { readonly request: ConnectRequest; readonly response: NodeResponse },
  next: (call: C) => void,
): Promise<void> {
  const admitted = await admit(gate, route, incoming, true)
  if (!admitted.ok) return sendWire(response, admitted.answer)
  const { call, fields, ...ending } = admitted.value
  setFields(response, fields)
  const tell = (): void => ending.sent(response.statusCode)
  // A client that went away before has closed it already.
  if (!route.idempotent && incoming.connection.ended) tell()
  else if (!route.idempotent) response.on('close', tell)
  const refuse = route.idempotent
    ? captureNode(response, route.operation, ending, gate.settings.answerLimitBytes, watchErrors(request))
    : async (error: unknown) => sendWire(response, await ending.fail(error))
  try {
    next(call)
  } catch (error) {
    await refuse(error)
  }
}

/** The last resort, so that no error of sending ends the process: a bare 500 where nothing has been sent. */
function abandon({ settings }: OpenGate, operation: string, response: NodeResponse, error: unknown): void {
  settings.report({ operation, error })
  if (response.headersSent) return
  response.statusCode = 500
  response.end()
}
