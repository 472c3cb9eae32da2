import { checkOptions } from '@gatewright/kernel/internal'
import type { TrustedProxies } from '../request/client-address.ts'
import { wire, type HttpResponse } from '../response/http-response.ts'
import { outcomeOfRead } from '../response/thrown-response.ts'
import { nodeFacts, splitTarget, type RequestFacts } from '../request/facts.ts'
import type { OpenGate } from '../gate-types.ts'
import { captureKoa, sendText } from './koa-capture.ts'
import type { KoaContext, KoaGate, KoaMiddleware, KoaResponder } from './koa-types.ts'
import { assertGate } from './mount-checks.ts'
import { BODY_CHOICES, bodyReader, type BodyAccess, type BodyChoice } from './node-body.ts'
import { addFields, connectionOf, onSent } from './node-response.ts'
import { guarding } from '../route/guarding.ts'
import type { Handler, OpenCall } from '../handler-types.ts'
import { checkedGuardingRoute, perform, runOf, startRun } from '../route/perform.ts'
import type { IncomingRequest, Route } from '../route/steps.ts'

export type { KoaContext, KoaGate, KoaResponder } from './koa-types.ts'
export type { BodyChoice } from './node-body.ts'
export type { HttpResponse } from '../response/http-response.ts'
export type { OpenGate } from '../gate-types.ts'
export type { RequestFacts } from '../request/facts.ts'
export type { TrustedProxies } from '../request/client-address.ts'

/** Reads the facts of a request. The path is not decoded, so two spellings of a resource remain different. By default no proxy is trusted. */
export function requestFacts({ req }: Pick<KoaContext, 'req'>, trusted?: TrustedProxies): RequestFacts {
  return nodeFacts(req, trusted)
}

/**
 * Sends a response through Koa: a string body as it is, anything else as JSON, none if undefined. If the response has no
 * `Content-Type`, sets that of JSON.
 */
export function send(ctx: KoaResponder, output: HttpResponse): void {
  sendText(ctx, wire(output))
}

interface ParsedRequest {
  body?: unknown
  readonly rawBody?: unknown
}

const access: BodyAccess<KoaContext> = {
  node: ctx => ctx.req,
  kept(ctx) {
    const { rawBody } = ctx.request as ParsedRequest
    return typeof rawBody === 'string' ? Buffer.from(rawBody) : undefined
  },
  keeping: 'app.use(bodyParser()) of koa-bodyparser or @koa/bodyparser, which set ctx.request.rawBody,',
  parser: 'a body parser such as koa-bodyparser or koa-body',
  hasParser: ctx => 'body' in ctx.request,
  parsed: ctx => (ctx.request as ParsedRequest).body,
  assign(ctx, value) {
    ;(ctx.request as ParsedRequest).body = value
  },
}

/** Binds a gate to Koa. Throws a `TypeError` without a gate or `body`. */
export function koaGate(gate: OpenGate, options: { readonly body: BodyChoice }): KoaGate {
  assertGate('koaGate', gate)
  const { body } = checkOptions('koaGate', options, { body: { is: BODY_CHOICES } })
  const read = bodyReader(body, gate.settings, access)
  const calls = new WeakMap<object, { route: object; call: OpenCall }>()
  const facts = (ctx: KoaContext) => (): RequestFacts =>
    // koa-mount removes its path from `req.url`.
    nodeFacts(ctx.req, gate.settings.trusted, ctx.originalUrl)
  const incoming = (ctx: KoaContext, isExisting: boolean): IncomingRequest => {
    const { req, res, params = {}, _matchedRoute: pattern } = ctx
    read.enter(ctx)
    return {
      request: req,
      facts: facts(ctx),
      params,
      pattern,
      readBody: () => (isExisting ? read.forHandler(ctx) : read.bytes(ctx)),
      replaceBody: isExisting ? fields => access.assign(ctx, fields) : undefined,
      connection: connectionOf(res),
    }
  }

  return {
    async aliases(ctx, next) {
      // koa-mount leaves `mountPath` in the context after it has restored the path.
      if (ctx.mountPath && splitTarget(ctx.req.url ?? '')[0] !== splitTarget(ctx.originalUrl)[0])
        throw new TypeError(
          `aliases must be mounted on the application itself, before a middleware that changes ctx.path: app.use(aliases), not below ${ctx.mountPath}`,
        )
      const entered = gate.enter(ctx.req, () => nodeFacts(ctx.req, gate.settings.trusted))
      if (!entered.ok) return sendText(ctx, entered.response)
      addFields(ctx.res, entered.value.fields())
      const { path } = entered.value.facts
      if (ctx.path !== path) ctx.path = path
      await next()
    },

    async otherwise(ctx, outcome) {
      const entered = gate.enter(ctx.req, facts(ctx))
      if (!entered.ok) return sendText(ctx, entered.response)
      const { facts: canonical, decision } = entered.value
      const given = outcome(canonical)
      // After the response of an operation, a refusal would deny what was done.
      sendText(ctx, gate.conclude(entered.value, decision.emitted ? given : outcomeOfRead(given)))
    },

    handle<C extends OpenCall>(route: Route<C>, handler?: Handler<C>): KoaMiddleware {
      const run = runOf(route, handler)
      read.mounted(route)
      return guarding(route.operation, async ctx =>
        sendText(ctx, await perform(gate, route, incoming(ctx, false), run)),
      )
    },

    guard(route) {
      read.mounted(checkedGuardingRoute(route))
      const guard: KoaMiddleware = async (ctx, next) => {
        const received = incoming(ctx, true)
        const started = await startRun(gate, route, received)
        if (!started.ok) return sendText(ctx, started.response)
        const { value: run } = started
        addFields(ctx.res, run.fields())
        calls.set(ctx.req, { route, call: run.call })
        if (route.idempotent) return captureKoa({ ctx, next, guard, route, run, settings: gate.settings })
        onSent(ctx.req, ctx.res, received.connection, status => gate.sent(run.context, status))
        await next()
      }
      return guarding(route.operation, guard)
    },

    session: ctx => gate.session(ctx.req, facts(ctx)),

    call<C extends OpenCall>(route: Route<C>, ctx: KoaContext): C {
      const known = calls.get(ctx.req)
      if (known?.route !== route)
        throw new TypeError(`${route.operation}: mount its middleware before the handler`)
      return known.call as C
    },
  }
}
