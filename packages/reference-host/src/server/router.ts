import { denialAnswer, type Answer, type ErrorShape } from '@gatewright/http'
import { requestFacts, send, type RequestFacts } from '@gatewright/http/koa'
import { readRawBody } from '@gatewright/http'
import type { Aliases } from '@gatewright/legacy-alias-router'
import { Router, type RouterMiddleware } from '@koa/router'
import type { Middleware } from 'koa'
import { deny } from './codes.ts'
import type { Operation } from './operation.ts'
import { compile, type PerformServices } from './perform.ts'
import { errorShape, render } from './render.ts'

/** Bytes a request body may have (contract section 11). */
const BODY_LIMIT_BYTES = 256 * 1024

/** A request as the alias stage left it: canonical path, headers under canonical names. */
export interface RoutedState {
  facts: RequestFacts
}

/** Routes canonical requests to their operations; what no operation serves is 404, or 405 with `Allow`. */
export function operationRoutes(
  table: readonly Operation[],
  services: PerformServices & { readonly aliases: Aliases },
): Middleware<RoutedState> {
  const router = new Router<RoutedState>({ strict: true, sensitive: true })
  const methods = new Map<string, { allow: string[]; shape: ErrorShape }>()
  for (const operation of table) {
    const perform = compile(operation, services)
    const respond: RouterMiddleware<RoutedState> = async ctx => {
      const { verdict, headers } = await perform({
        facts: ctx.state.facts,
        params: ctx.params,
        readBody: () => readRawBody(ctx.req, BODY_LIMIT_BYTES),
      })
      send(ctx, render(operation, verdict, headers, services.aliases))
    }
    for (const path of operation.paths) {
      router.register(path.replaceAll(/\{(\w+)\}/g, ':$1'), [operation.method], respond)
      const entry = methods.get(path) ?? { allow: [], shape: errorShape(operation.surface) }
      entry.allow.push(operation.method)
      methods.set(path, entry)
    }
  }
  const routes = router.routes() as unknown as Middleware<RoutedState>
  return (ctx, next) =>
    routes(ctx, async () => {
      const known = methods.get(ctx.path)
      send(ctx, known ? wrongMethod(known) : unknownPath(ctx.path))
      await next()
    })
}

function wrongMethod({ allow, shape }: { allow: string[]; shape: ErrorShape }): Answer {
  const names = allow.join(', ')
  const refusal = deny('method_not_allowed', `this path takes ${names}`)
  return denialAnswer({ ...refusal, headers: [['Allow', names]] }, shape)
}

function unknownPath(path: string): Answer {
  return denialAnswer(
    deny('not_found', 'no operation has this path'),
    path.startsWith('/partner/') ? 'partner' : 'plain',
  )
}

/**
 * Turns old names into canonical ones before routing, for Koa. `originalUrl` keeps what came. A request target that
 * is not a path (absolute form, `*`) is refused: it would carry a foreign host into links and keys.
 */
export function aliasStage(aliases: Aliases): Middleware<RoutedState> {
  return async (ctx, next) => {
    const received = requestFacts(ctx)
    if (!received.path.startsWith('/')) {
      return send(ctx, denialAnswer(deny('invalid_request', 'the request target must be a path'), 'plain'))
    }
    const resolved = aliases.resolve(received)
    if (!resolved.ok) {
      const shape = received.path.startsWith('/partner/') ? 'partner' : 'plain'
      return send(ctx, denialAnswer(resolved, shape))
    }
    const { path, headers, answerHeaders } = resolved.value
    for (const [name, value] of answerHeaders) ctx.set(name, value)
    ctx.path = path
    ctx.state.facts = { ...received, path, header: name => headers[name] ?? received.header(name) }
    await next()
  }
}
