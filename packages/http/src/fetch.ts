import { knownOptions, type OptionNames } from '@gatewright/kernel'
import { parseJsonObject } from './body.ts'
import { fetchFacts, type RequestFacts } from './facts.ts'
import { readRequest } from './fetch-body.ts'
import { checkedPeer, type PeerOf } from './fetch-peer.ts'
import { capture, toResponse, withResponseFields } from './fetch-response.ts'
import type { OpenGate } from './gate-types.ts'
import { checkGate } from './mounting.ts'
import { checkedBody } from './node-body.ts'
import { admit, checkGuarding, noBody, perform, runOf, type Handler, type Incoming } from './perform.ts'
import type { Admitted, CompleteRoute, OpenCall, Route } from './stages.ts'

/**
 * How a request's bytes are read; there is no default. `clone`: from a clone, so that an existing handler can still read
 * the request. `stream`: from the request itself, for handlers that use `call.body` only.
 */
export type FetchBody = 'clone' | 'stream'

/** Options of `fetchGate`. */
export interface FetchGateOptions<Env> {
  readonly body: FetchBody
  /**
   * The peer's address, which a `Request` does not hold: from what the server passes beside it. There is no default.
   * `none`: it is not known, so that limits by address bind nobody and rules on addresses refuse; not with `trustProxy`.
   */
  readonly peer: PeerOf<Env> | 'none'
}

const OPTIONS: OptionNames<FetchGateOptions<unknown>> = { body: true, peer: true }

/** The part of a Hono context that is used. Hono itself is not imported. */
export interface HonoContext<Env> {
  readonly req: { readonly raw: Request }
  readonly env: Env
  /** What a handler threw, where Hono has made an answer of it. */
  readonly error?: Error | undefined
  get res(): Response
  set res(response: Response | undefined)
}

/** A function from request to response, with what the server passes beside it. */
export type Fetch<Env> = (request: Request, env: Env) => Response | Promise<Response>

/** A mounted operation. */
export type FetchHandler<Env> = (
  request: Request,
  env: Env,
  params?: Readonly<Record<string, string>>,
) => Promise<Response>

/** Mounts a gate's operations. */
export interface FetchGate<Env> {
  /** Wraps a whole application (`app.fetch`): translates old names before it routes, and puts alias fields on every answer. */
  aliases(fetch: (request: Request, env: Env, ...rest: never[]) => Response | Promise<Response>): Fetch<Env>
  /**
   * An operation whose handler returns its answer; a transactional one brings its handler along. `params` are the path
   * parameters that the server's router read.
   */
  handle<C extends OpenCall>(route: CompleteRoute<C>): FetchHandler<Env>
  handle<C extends OpenCall>(route: Route<C>, handler: Handler<C>): FetchHandler<Env>
  /** Guards an existing `Request -> Response` handler; of an idempotent route its response is captured. */
  wrap<C extends OpenCall>(
    route: Route<C>,
    existing: (request: Request, call: C) => Response | Promise<Response>,
  ): (request: Request, env: Env) => Promise<Response>
  /** The same as a Hono middleware in front of existing handlers. */
  guard<C extends OpenCall>(
    route: Route<C>,
  ): (context: HonoContext<Env>, next: () => Promise<void>) => Promise<Response | undefined>
  /** The call of a request that `guard(route)` let pass. Throws a `TypeError` for any other. */
  call<C extends OpenCall>(route: Route<C>, request: Request): C
}

/** Binds a gate to fetch-style servers: Hono, Next.js route handlers, Bun, Deno. Throws a `TypeError` without `body` or `peer`. */
export function fetchGate<Env = unknown>(gate: OpenGate, options: FetchGateOptions<Env>): FetchGate<Env> {
  checkGate('fetchGate', gate)
  const { settings } = gate
  const given = knownOptions<FetchGateOptions<Env>>('fetchGate', options, OPTIONS)
  const body = checkedBody(given.body, ['clone', 'stream'])
  const peer = checkedPeer(given.peer, settings.proxied)
  const calls = new WeakMap<Request, { route: object; call: OpenCall }>()

  const facts = (request: Request, env: Env) => (): RequestFacts =>
    fetchFacts(request, peer(request, env) ?? '', settings.trusted)
  const incoming = (request: Request, env: Env, params: Incoming['params'] = {}): Incoming => ({
    request,
    params,
    facts: facts(request, env),
    readBody: () =>
      readRequest(body === 'clone' ? () => request.clone() : () => request, settings.bodyLimitBytes),
    connection: { ended: request.signal.aborted, signal: request.signal },
  })
  const around = async <C extends OpenCall>(
    route: Route<C>,
    request: Request,
    env: Env,
    existing: (call: C) => Response | Promise<Response>,
    thrown: () => boolean = () => false,
  ): Promise<Response> => {
    const seen = incoming(request, env)
    const readJson = async (): ReturnType<Incoming['readBody']> => {
      const bytes = await seen.readBody()
      const parsed = bytes.ok
        ? parseJsonObject(bytes.value, request.headers.get('content-type') ?? undefined)
        : bytes
      return parsed.ok ? bytes : parsed
    }
    const admitted = await admit(
      gate,
      route,
      { ...seen, readBody: route.idempotent ? readJson : noBody },
      true,
    )
    if (!admitted.ok) return toResponse(admitted.answer)
    const { call, fields } = admitted.value
    calls.set(request, { route, call })
    const response = await runExisting(() => existing(call), admitted.value)
    if (thrown()) {
      await admitted.value.lose(response.status)
      return withResponseFields(response, fields)
    }
    if (!route.idempotent) admitted.value.sent(response.status)
    const kept = route.idempotent
      ? await capture(response, route.operation, admitted.value, settings.answerLimitBytes)
      : response
    return withResponseFields(kept, fields)
  }

  return {
    aliases:
      fetch =>
      async (request, env, ...rest) => {
        const entered = gate.enter(request, facts(request, env))
        if (!entered.ok) return toResponse(entered.answer)
        const { facts: canonical, fields } = entered.value
        const url = new URL(request.url)
        let target = request
        if (url.pathname !== canonical.path) {
          url.pathname = canonical.path
          target = new Request(url, request)
          gate.adopt(target, request)
        }
        return withResponseFields(await fetch(target, env, ...(rest as never[])), fields())
      },
    handle<C extends OpenCall>(route: Route<C>, handler?: Handler<C>): FetchHandler<Env> {
      const run = runOf(route, handler)
      return async (request, env, params) =>
        toResponse(await perform(gate, route, incoming(request, env, params), run))
    },
    wrap(route, existing) {
      checkGuarding(route, existing)
      return (request, env) => around(route, request, env, call => existing(request, call))
    },
    guard(route) {
      checkGuarding(route)
      return async (context, next) => {
        let passed = false
        const existing = async (): Promise<Response> => {
          passed = true
          await next()
          return context.res
        }
        const thrown = (): boolean => context.error !== undefined
        const response = await around(route, context.req.raw, context.env, existing, thrown)
        if (!passed) return response
        // Hono ignores what a middleware returns after `next`, and merges the headers of a response that is replaced.
        context.res = undefined
        context.res = response
        return undefined
      }
    },
    call<C extends OpenCall>(route: Route<C>, request: Request): C {
      const held = calls.get(request)
      if (held?.route !== route)
        throw new TypeError(`${route.operation}: mount guard(route) before its handler`)
      return held.call as C
    },
  }
}

/** A handler that throws has a lost run; the error is the server's to render. */
async function runExisting(
  existing: () => Response | Promise<Response>,
  { lose }: Pick<Admitted<never>, 'lose'>,
): Promise<Response> {
  try {
    return await existing()
  } catch (error) {
    await lose(500)
    throw error
  }
}
