import { checkOptions } from '@gatewright/kernel/internal'
import { fetchFacts, type RequestFacts } from '../request/facts.ts'
import { readRequest } from './fetch-body.ts'
import { guardExisting, type ExistingHandler, type FetchCalls, type IncomingFetch } from './fetch-existing.ts'
import { checkedPeer, keepAlive, paramsOf } from './fetch-server.ts'
import type { FetchGate, FetchGateOptions, FetchHandler } from './fetch-types.ts'
import { toResponse, withResponseFields } from './fetch-response.ts'
import { HonoWatch } from './hono-watch.ts'
import type { OpenGate } from '../gate-types.ts'
import { assertGate } from './mount-checks.ts'
import { guarding } from '../route/guarding.ts'
import type { Handler, OpenCall } from '../handler-types.ts'
import { checkedGuardingRoute, perform, runOf } from '../route/perform.ts'
import type { Route } from '../route/steps.ts'

export type { FetchGate, FetchGateOptions } from './fetch-types.ts'
export type { OpenGate } from '../gate-types.ts'

/** Binds a gate to fetch-style servers: Hono, Next.js route handlers, Bun, Deno. Throws a `TypeError` without `body` or `peer`. */
export function fetchGate<Env = unknown>(gate: OpenGate, options: FetchGateOptions<Env>): FetchGate<Env> {
  assertGate('fetchGate', gate)
  const { settings } = gate
  const { body, ...given } = checkOptions('fetchGate', options, {
    body: { is: ['clone', 'stream'] },
    peer: true,
    waitUntil: { is: 'function', default: undefined },
  })
  const peer = checkedPeer(given.peer, settings.proxied)
  const keep = keepAlive(given.waitUntil)
  const calls: FetchCalls = new WeakMap()

  const facts = (request: Request, env: Env) => (): RequestFacts =>
    fetchFacts(request, peer(request, env), settings.trusted)
  const incoming = (request: Request, env: Env, params: unknown): IncomingFetch => ({
    request,
    params: paramsOf(params),
    facts: facts(request, env),
    readBody: () =>
      readRequest(body === 'clone' ? () => request.clone() : () => request, settings.bodyLimitBytes),
    replaceBody: undefined,
    connection: { ended: request.signal.aborted, signal: request.signal },
  })
  return {
    aliases:
      fetch =>
      async (request, ...beside) => {
        const [env, ...rest] = beside as [Env, ...never[]]
        const entered = gate.enter(request, facts(request, env))
        if (!entered.ok) return toResponse(entered.response)
        const context = entered.value
        const canonical = context.facts
        const url = new URL(request.url)
        let target = request
        if (url.pathname !== canonical.path) {
          url.pathname = canonical.path
          target = new Request(url, request)
          gate.adopt(target, request)
        }
        return withResponseFields(await fetch(target, env, ...rest), context.fields())
      },
    handle<C extends OpenCall>(route: Route<C>, handler?: Handler<C>): FetchHandler<Env> {
      const run = runOf(route, handler)
      return guarding(route.operation, async (request, ...beside) => {
        const [env, params] = beside as unknown as [Env, unknown]
        return toResponse(await keep(perform(gate, route, incoming(request, env, params), run)))
      })
    },
    wrap(route, existing) {
      checkedGuardingRoute(route, existing)
      return guarding(route.operation, (request, ...beside) => {
        const [env, params] = beside as unknown as [Env, unknown]
        const received = incoming(request, env, params)
        return keep(
          guardExisting({ gate, calls }, route, received, { call: (call, sent) => existing(sent, call) }),
        )
      })
    },
    guard(route) {
      checkedGuardingRoute(route)
      const guard: ReturnType<FetchGate<Env>['guard']> = async (context, next) => {
        const { raw } = context.req
        let passed = false
        let watch: HonoWatch | undefined
        const existing: ExistingHandler = {
          async call(_call, request) {
            passed = true
            if (request !== raw) context.req.raw = request
            if (route.idempotent) watch = new HonoWatch(context, guard)
            if (watch) return watch.run(next)
            await next()
            return context.res
          },
          watch: () => watch,
          thrown: () => (watch ? watch.error : context.error),
        }
        const received = incoming(raw, context.env, context.req.param())
        const response = await keep(guardExisting({ gate, calls }, route, received, existing))
        if (!passed) return response
        if (watch?.isReplaced || response === context.res) return undefined
        watch?.end()
        // Hono ignores what a middleware returns after `next`, and merges headers when a response is replaced.
        context.res = undefined
        context.res = response
        return undefined
      }
      return guarding(route.operation, guard)
    },
    session(request, ...beside) {
      const [env] = beside as [Env]
      return gate.session(request, facts(request, env))
    },
    call<C extends OpenCall>(route: Route<C>, request: Request): C {
      const known = calls.get(request)
      if (known?.route !== route)
        throw new TypeError(`${route.operation}: mount its middleware before the handler`)
      return known.call as C
    },
  }
}
