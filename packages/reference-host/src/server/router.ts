import { denialAnswer, readRawBody, type Answer } from '@gatewright/http'
import { Router, type RouterMiddleware } from '@koa/router'
import type { Middleware } from 'koa'
import { deny } from './codes.ts'
import { optionsAnswer } from './cors.ts'
import { shapeOfPath, type ExchangeState } from './exchange.ts'
import type { Operation } from './operation.ts'
import { compile, type PerformServices } from './perform.ts'
import { errorShape, render } from './render.ts'

/** Bytes a request body may have (contract section 11). */
const BODY_LIMIT_BYTES = 256 * 1024

/** Routes canonical requests to their operations; what no operation serves is 404, or 405 with `Allow`. */
export function operationRoutes(
  table: readonly Operation[],
  services: PerformServices,
): Middleware<ExchangeState> {
  const router = new Router<ExchangeState>({ strict: true, sensitive: true })
  for (const operation of table) {
    const perform = compile(operation, services)
    const respond: RouterMiddleware<ExchangeState> = async ctx => {
      const { exchange } = ctx.state
      exchange.operation = operation
      const performed = await perform({
        facts: exchange.facts,
        params: ctx.params,
        readBody: () => readRawBody(ctx.req, BODY_LIMIT_BYTES),
      })
      exchange.performed = performed
      exchange.answer = render(operation, performed.verdict, performed.headers, services.aliases)
    }
    for (const path of operation.paths) {
      router.register(path.replaceAll(/\{(\w+)\}/g, ':$1'), [operation.method], respond)
    }
  }
  const routes = router.routes() as unknown as Middleware<ExchangeState>
  return (ctx, next) =>
    routes(ctx, async () => {
      const { path } = ctx.state.exchange.facts
      const layers = router.match(path, ctx.method).path
      const methods = new Set(layers.flatMap(layer => layer.methods))
      ctx.state.exchange.answer = unrouted(path, ctx.method, [...methods].sort())
      await next()
    })
}

/** The answer where no operation has the path and the method. */
function unrouted(path: string, method: string, methods: readonly string[]): Answer {
  if (methods.length === 0)
    return denialAnswer(deny('not_found', 'no operation has this path'), shapeOfPath(path))
  const all = [...methods, 'OPTIONS']
  if (method === 'OPTIONS') return optionsAnswer(all)
  const refusal = deny('method_not_allowed', `this path takes ${all.join(', ')}`)
  const operationShape = path === '/users/resolve' ? errorShape('partner') : shapeOfPath(path)
  return denialAnswer({ ...refusal, headers: [['Allow', all.join(', ')]] }, operationShape)
}
