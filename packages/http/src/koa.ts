import { knownOptions } from '@gatewright/kernel'
import type { TrustedProxies } from './address.ts'
import { wire, type Answer } from './answer.ts'
import { addedFields, capturedAnswer, fieldPairs, isStream, streamRefusal } from './captured.ts'
import { nodeFacts, type CanonicalFacts, type NodeRequest, type RequestFacts } from './facts.ts'
import type { OpenGate } from './gate-types.ts'
import { BODY_OPTION, checkGate } from './mounting.ts'
import { bodyReader, type BodyAccess, type BodyChoice } from './node-body.ts'
import { connectionOf, type NodeResponse } from './node-response.ts'
import type { Outcome } from './outcome.ts'
import type { WireAnswer } from './parts.ts'
import { admit, checkGuarding, noBody, perform, runOf, type Handler, type Incoming } from './perform.ts'
import type { Admitted, CompleteRoute, OpenCall, Route } from './stages.ts'

export type { RequestFacts } from './facts.ts'
export type { BodyChoice } from './node-body.ts'

/** The part of a Koa context that is used. Koa itself is not imported. */
export interface KoaContext {
  readonly req: NodeRequest
  readonly res: NodeResponse
  /** What a body parser left: `body`, and from koa-bodyparser the text in `rawBody`. */
  readonly request: object
  readonly response: { readonly headers: object }
  path: string
  status: number
  body: unknown
  /** Path parameters, as a router set them. */
  readonly params?: Record<string, string>
  /** False where a handler writes to `res` itself. */
  respond?: boolean | undefined
  set(name: string, value: string): void
}

/** A Koa middleware. */
export type KoaMiddleware = (ctx: KoaContext, next: () => Promise<unknown>) => Promise<void>

/** Mounts a gate's operations. */
export interface KoaGate {
  /** Translates old names. Mount it before the router; `ctx.originalUrl` keeps what came. */
  readonly aliases: KoaMiddleware
  /** An operation whose handler returns its answer; a transactional one brings its handler along. */
  handle<C extends OpenCall>(route: CompleteRoute<C>): KoaMiddleware
  handle<C extends OpenCall>(route: Route<C>, handler: Handler<C>): KoaMiddleware
  /** Answers a request that no operation serves, or whose server failed beside the gate. */
  otherwise(ctx: KoaContext, outcome: (facts: CanonicalFacts) => Outcome): Promise<void>
  /** Guards what comes after it; of an idempotent route `ctx.body` is captured. */
  guard<C extends OpenCall>(route: Route<C>): KoaMiddleware
  /** The call of a request that `guard(route)` let pass. Throws a `TypeError` for any other. */
  call<C extends OpenCall>(route: Route<C>, ctx: KoaContext): C
}

/** Reads the facts. The path is not decoded, so two spellings of one resource stay two. By default no proxy is trusted. */
export function requestFacts({ req }: Pick<KoaContext, 'req'>, trusted?: TrustedProxies): RequestFacts {
  return nodeFacts(req, trusted)
}

/**
 * Sends an answer through Koa: as JSON, a text as it is, nothing for undefined. A header of the answer may name a more
 * exact media type.
 */
export function send(ctx: Pick<KoaContext, 'status' | 'body' | 'set'>, answer: Answer): void {
  sendText(ctx, wire(answer))
}

function sendText(
  ctx: Pick<KoaContext, 'status' | 'body' | 'set'>,
  { status, headers, body }: WireAnswer,
): void {
  ctx.status = status
  ctx.body = body === '' ? null : body
  // Koa turns an empty answer into 204.
  ctx.status = status
  for (const [name, value] of headers) ctx.set(name, value)
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
  hint: 'a parser that sets ctx.request.rawBody (koa-bodyparser) must run before',
  parser: 'a body parser such as koa-bodyparser',
  parsed: ctx => (ctx.request as ParsedRequest).body,
  assign(ctx, value) {
    ;(ctx.request as ParsedRequest).body = value
  },
}

/** Binds a gate to Koa. Throws a `TypeError` without a gate or `body`. */
export function koaGate(gate: OpenGate, options: { readonly body: BodyChoice }): KoaGate {
  checkGate('koaGate', gate)
  const { body } = knownOptions('koaGate', options, BODY_OPTION)
  const read = bodyReader(body, gate.settings.bodyLimitBytes, access)
  const calls = new WeakMap<object, { route: object; call: OpenCall }>()
  const facts = (ctx: KoaContext) => (): RequestFacts => nodeFacts(ctx.req, gate.settings.trusted)
  const incoming = (ctx: KoaContext, readBody: Incoming['readBody']): Incoming => {
    const { req, res, params = {} } = ctx
    return { request: req, facts: facts(ctx), params, readBody, connection: connectionOf(res) }
  }

  return {
    async aliases(ctx, next) {
      const entered = gate.enter(ctx.req, facts(ctx))
      if (!entered.ok) return sendText(ctx, entered.answer)
      for (const [name, value] of entered.value.fields()) ctx.set(name, value)
      const { path } = entered.value.facts
      if (ctx.path !== path) ctx.path = path
      await next()
    },

    async otherwise(ctx, outcome) {
      const entered = gate.enter(ctx.req, facts(ctx))
      sendText(ctx, entered.ok ? gate.conclude(entered.value, outcome(entered.value.facts)) : entered.answer)
    },

    handle<C extends OpenCall>(route: Route<C>, handler?: Handler<C>): KoaMiddleware {
      const run = runOf(route, handler)
      return async ctx =>
        sendText(
          ctx,
          await perform(
            gate,
            route,
            incoming(ctx, () => read.bytes(ctx)),
            run,
          ),
        )
    },

    guard(route) {
      checkGuarding(route)
      return async (ctx, next) => {
        const readBody = route.idempotent ? () => read.forHandler(ctx) : noBody
        const seen = incoming(ctx, readBody)
        const admitted = await admit(gate, route, seen, true)
        if (!admitted.ok) return sendText(ctx, admitted.answer)
        const { call, fields, sent } = admitted.value
        for (const [name, value] of fields) ctx.set(name, value)
        calls.set(ctx.req, { route, call })
        if (route.idempotent)
          return capture(ctx, next, route.operation, admitted.value, gate.settings.answerLimitBytes)
        const tell = (): void => sent(ctx.res.statusCode)
        if (seen.connection.ended) tell()
        else ctx.res.on('close', tell)
        await next()
      }
    },

    call<C extends OpenCall>(route: Route<C>, ctx: KoaContext): C {
      const held = calls.get(ctx.req)
      if (held?.route !== route)
        throw new TypeError(`${route.operation}: mount guard(route) before its handler`)
      return held.call as C
    },
  }
}

/** Ends the run by what the handlers after this one left in the context, before Koa sends it. */
async function capture(
  ctx: KoaContext,
  next: () => Promise<unknown>,
  operation: string,
  { settle, fail, lose }: Pick<Admitted<never>, 'settle' | 'fail' | 'lose'>,
  limitBytes: number,
): Promise<void> {
  try {
    await next()
  } catch (error) {
    await lose(statusOf(error))
    throw error
  }
  let value: string | Uint8Array
  try {
    value = bodyOf(operation, ctx)
  } catch (error) {
    ctx.body = null
    return sendText(ctx, await fail(error))
  }
  const given = capturedAnswer(ctx.status, fieldPairs({ ...ctx.response.headers }), value, limitBytes)
  const answer = await settle(given)
  if (answer.status !== given.status) return sendText(ctx, answer)
  for (const [name, value] of addedFields(given, answer)) ctx.set(name, value)
}

/** The body that Koa is about to send. Throws for a stream, and for what JSON cannot write. */
function bodyOf(operation: string, { body, res, respond }: KoaContext): string | Uint8Array {
  if (isStream(body) || body instanceof Blob || body instanceof Response || respond === false)
    throw streamRefusal(operation, body ?? res)
  if (typeof body === 'string' || body instanceof Uint8Array) return body
  return body === null || body === undefined ? '' : JSON.stringify(body)
}

/** The status that Koa makes of an error. */
function statusOf(error: unknown): number {
  const { status, statusCode } = (error ?? {}) as { status?: unknown; statusCode?: unknown }
  const given = status ?? statusCode
  return typeof given === 'number' && given >= 400 ? given : 500
}
