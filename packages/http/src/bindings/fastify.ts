import type { Verdict } from '@gatewright/kernel'
import { checkOptions } from '@gatewright/kernel/internal'
import { addedFields, capturedResponse, fieldPairs, streamError } from './captured-response.ts'
import { nodeFacts, splitTarget, type NodeRequest, type RequestFacts } from '../request/facts.ts'
import { keepRawBodies, keptBytes, parserDenial } from './fastify-body.ts'
import { addLinks, addReplyFields, sendReply } from './fastify-reply.ts'
import type {
  FastifyApp,
  FastifyGate,
  FastifyReply,
  FastifyRequest,
  FastifyRoute,
  RouteHooks,
} from './fastify-types.ts'
import { FastifyWatch } from './fastify-watch.ts'
import type { OpenGate } from '../gate-types.ts'
import { assertGate } from './mount-checks.ts'
import { parsedBytes } from './node-body.ts'
import { connectionOf, fieldsByName, onSent } from './node-response.ts'
import { hadNoEffect } from '../response/no-effect.ts'
import type { Outcome } from '../response/outcome.ts'
import type { RequestContext } from '../route/request-context.ts'
import { guarding, mountedTwice, operationGuardedBy } from '../route/guarding.ts'
import type { Handler, OpenCall } from '../handler-types.ts'
import { authorizeUnread, checkedGuardingRoute, finish, runOf } from '../route/perform.ts'
import type { Run } from '../route/run.ts'
import type { IncomingRequest, Route } from '../route/steps.ts'

export type { FastifyGate, FastifyReply } from './fastify-types.ts'
export type { OpenGate } from '../gate-types.ts'

/** What one hook stores about a request for the next hook. */
interface Progress {
  readonly route: object
  readonly context: RequestContext
  readonly incoming: IncomingRequest
  run?: Run<OpenCall>
  /** Of an existing handler of an idempotent route. */
  watch?: FastifyWatch
  /** What the handler has thrown, so that an error handler writes the response. */
  failure?: { readonly error: unknown }
}

/**
 * Names the usual parser in the error for a body that was not parsed. Fastify has a JSON parser unless the application removed
 * it.
 */
const PARSER = 'a content type parser (addContentTypeParser) that gives the parsed body'

/**
 * Binds a gate to Fastify 5. `body` says how the bytes of a request body are read; there is no default. `kept`: the plugin's
 * JSON parser keeps them, and parses as Fastify's own does. `parsed`: the fallback, `JSON.stringify(request.body)`.
 * Throws a `TypeError` without a gate or `body`.
 */
export function fastifyGate(gate: OpenGate, options: { readonly body: 'kept' | 'parsed' }): FastifyGate {
  assertGate('fastifyGate', gate)
  const { body } = checkOptions('fastifyGate', options, { body: { is: ['kept', 'parsed'] } })
  const { settings } = gate
  const progress = new WeakMap<object, Progress>()
  /** The hooks before existing handlers. */
  const guards = new WeakSet<object>()
  const facts = (raw: NodeRequest) => (): RequestFacts => nodeFacts(raw, settings.trusted)
  const read = (request: FastifyRequest): Verdict<Uint8Array> =>
    body === 'kept' ? keptBytes(request) : parsedBytes(request.body, request.raw, PARSER)

  const incomingOf = (
    request: FastifyRequest,
    reply: FastifyReply,
    isExisting: boolean,
  ): IncomingRequest => ({
    request: request.raw,
    facts: facts(request.raw),
    params: paramsOf(request),
    pattern: request.routeOptions?.url,
    // Fastify reads the body after authorization.
    readBody: async () => read(request),
    connection: connectionOf(reply.raw),
    replaceBody: isExisting ? fields => void (request.body = fields) : undefined,
  })
  const hooks = <C extends OpenCall>(
    route: Route<C>,
    isExisting: boolean,
  ): Pick<FastifyRoute, 'onRequest' | 'preHandler'> => ({
    onRequest: guarding(route.operation, async (request, reply) => {
      const incoming = incomingOf(request, reply, isExisting)
      const result = await authorizeUnread(gate, route, incoming)
      if (!result.ok) return sendReply(reply, result.response)
      progress.set(request.raw, { route, context: result.value, incoming })
      return undefined
    }),
    preHandler: guarding(route.operation, async (request, reply) => {
      const known = progress.get(request.raw) as Progress
      const { context, incoming } = known
      const result = await route.start(context, incoming)
      if (!result.ok) return sendReply(reply, result.response)
      const { value: run } = result
      known.run = run
      // No hook runs for a reply that its handler has hijacked.
      if (isExisting && !route.idempotent)
        onSent(request.raw, reply.raw, incoming.connection, status => gate.sent(context, status))
      else if (isExisting) {
        const isWatched = WATCHED in (request.routeOptions?.config ?? {})
        const { responseLimitBytes: limitBytes } = settings
        known.watch = new FastifyWatch(run, reply, { limitBytes, isWatched })
      }
      addReplyFields(reply, run.fields())
      return undefined
    }),
  })
  const startedRunOf = <C extends OpenCall>(route: Route<C>, { raw }: FastifyRequest): Run<C> => {
    const known = progress.get(raw)
    if (known?.route === route && known.run) return known.run as unknown as Run<C>
    throw new TypeError(`${route.operation}: mount the route with hooks(route)`)
  }

  return {
    plugin: pluginOf(gate, body, facts, app => watchRoutes(app, guards, raw => progress.get(raw)?.watch)),
    rewriteUrl(raw) {
      const [path, search] = splitTarget(raw.url ?? '')
      const entered = gate.enter(raw, facts(raw))
      return (entered.ok ? entered.value.facts.path : path) + search
    },
    handle<C extends OpenCall>(route: Route<C>, handler?: Handler<C>): FastifyRoute {
      const run = runOf(route, handler)
      return {
        ...hooks(route, false),
        onSend: async (_request, _reply, payload) => payload,
        bodyLimit: settings.bodyLimitBytes,
        handler: async (request, reply) => sendReply(reply, await finish(startedRunOf(route, request), run)),
        errorHandler(error, { raw }, reply) {
          const entered = gate.enter(raw, facts(raw))
          if (!entered.ok) return void sendReply(reply, entered.response)
          const denial = parserDenial(error, settings.bodyLimitBytes)
          const outcome: Outcome = denial ? { kind: 'denial', denial } : { kind: 'failure', error }
          sendReply(reply, gate.conclude(entered.value, outcome))
        },
      }
    },
    hooks(route) {
      const before = hooks(checkedGuardingRoute(route), true)
      guards.add(before.preHandler)
      return { ...before, ...hooksAfter(gate, route, progress) }
    },
    session: ({ raw }) => gate.session(raw, facts(raw)),
    call: (route, request) => startedRunOf(route, request).call,
  }
}

/** Makes the hooks that see what an existing handler does. */
function hooksAfter<C extends OpenCall>(
  gate: OpenGate,
  route: Route<C>,
  progress: WeakMap<object, Progress>,
): Pick<ReturnType<FastifyGate['hooks']>, 'onError' | 'onSend'> {
  return {
    async onError({ raw }, _reply, error) {
      const known = progress.get(raw)
      if (known) known.failure = { error }
    },
    async onSend({ raw }, reply, payload) {
      const { run, context, failure, watch } = progress.get(raw) ?? {}
      // Without a run a body parser has failed.
      if (!run || !route.idempotent) {
        if (context) gate.sent(context, reply.statusCode)
        return payload
      }
      if (!watch || watch.hasEnded) return payload
      const { statusCode: status } = reply
      if (status >= 400 || failure) {
        const author = watch.author(failure)
        const isFailure = author.by === 'unknown' && hadNoEffect(route.noEffectStatuses, { status })
        if (author.by === 'error handler' || isFailure) {
          watch.end(status)
          await run.fail({ status, ...('error' in author ? { error: author.error } : {}) })
          return payload
        }
        if (author.by !== 'handler' || !(await author.ends())) {
          await watch.leave(status)
          return payload
        }
      }
      watch.end(status)
      return capture(reply, payload, { operation: route.operation, run }, gate.settings.responseLimitBytes)
    },
  }
}

/** Marks the configuration of a route whose handler is watched. */
const WATCHED = Symbol('the handler is watched')

/**
 * Watches the handlers that an application declares from now on behind one of the hooks `guards`. A route with two guards is a `TypeError` when it
 * is declared.
 */
function watchRoutes(
  app: FastifyApp,
  guards: WeakSet<object>,
  watchOf: (raw: object) => FastifyWatch | undefined,
): void {
  ;(app as unknown as RouteHooks).addHook('onRoute', options => {
    assertOneGuard([options.onRequest].flat())
    assertOneGuard([options.preHandler].flat())
    if (![options.preHandler].flat().some(hook => hook !== undefined && guards.has(hook))) return
    const given = options.handler
    options.config = { ...options.config, [WATCHED]: true }
    options.handler = function (request, reply) {
      const run = (): unknown => given.call(this, request, reply)
      const watch = watchOf(request.raw)
      return watch ? watch.call(run, reply) : run()
    }
  })
}

/** Throws a `TypeError` for hooks of a route of which two guard an operation. */
function assertOneGuard(hooks: readonly (object | undefined)[]): void {
  const [operation, other] = hooks.flatMap(hook => (hook && operationGuardedBy(hook)) ?? [])
  if (operation === undefined || other === undefined) return
  if (operation === other) throw mountedTwice(operation)
  throw new TypeError(
    `${operation}: its route has the guard of ${other}, too, where one guard would take over what the other has started: mount one of them`,
  )
}

/** Makes the plugin. Fastify encapsulates what a plugin adds unless it has the symbol `skip-override`. */
function pluginOf(
  gate: OpenGate,
  body: 'kept' | 'parsed',
  facts: (raw: NodeRequest) => () => RequestFacts,
  watch: (app: FastifyApp) => void,
): FastifyGate['plugin'] {
  const contexts = new WeakMap<object, RequestContext>()
  const plugin: FastifyGate['plugin'] = (app, _options, done) => {
    if (body === 'kept') keepRawBodies(app)
    watch(app)
    app.addHook('onRequest', async ({ raw }, reply) => {
      const entered = gate.enter(raw, facts(raw))
      if (!entered.ok) return sendReply(reply, entered.response)
      contexts.set(raw, entered.value)
      addReplyFields(reply, entered.value.fields())
      return undefined
    })
    app.addHook('onSend', async ({ raw }, reply, payload) => {
      addLinks(reply, contexts.get(raw)?.fields() ?? [])
      return payload
    })
    done()
  }
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true })
}

function paramsOf({ params }: FastifyRequest): Readonly<Record<string, string>> {
  return (params ?? {}) as Record<string, string>
}

/**
 * Closes a stream that is not sent, and ignores its errors. Fastify adds an error listener only to a stream that it sends, and
 * without a listener an error would end the process.
 */
function dropStream(payload: unknown): void {
  const ignore = (): void => {}
  const { body = payload } = payload as { body?: unknown }
  const stream = body as Partial<{
    on(...args: unknown[]): void
    destroy(): void
    cancel(): Promise<void>
  }> | null
  stream?.on?.('error', ignore)
  stream?.destroy?.()
  void stream?.cancel?.().catch(ignore)
}

/** Ends the run with the response that the handler, or the application's error handler, sends. */
async function capture(
  reply: FastifyReply,
  payload: unknown,
  { operation, run }: { readonly operation: string; readonly run: Run<OpenCall> },
  limitBytes: number,
): Promise<unknown> {
  const status = reply.statusCode
  const isText = typeof payload === 'string' || payload instanceof Uint8Array
  const isStream = !isText && payload !== null && payload !== undefined
  const captured = capturedResponse(
    status,
    fieldPairs({ ...reply.getHeaders() }),
    isText ? payload : '',
    limitBytes,
  )
  if (isStream) dropStream(payload)
  const response = isStream
    ? await run.finish({ kind: 'failure', error: streamError(operation, payload) })
    : await run.finishCaptured(captured)
  for (const [name, value] of addedFields(captured, response)) reply.header(name, value)
  if (response.status === status && !isStream) return payload
  reply.code(response.status)
  for (const [name, values] of fieldsByName(response.headers)) reply.header(name, values)
  reply.removeHeader('content-length')
  return response.body
}
