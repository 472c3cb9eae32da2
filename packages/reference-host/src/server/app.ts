import { randomUUID } from 'node:crypto'
import { errorAnswer, faultAnswer } from '@gatewright/http'
import { send } from '@gatewright/http/koa'
import { Fault } from '@gatewright/kernel'
import type { Aliases } from '@gatewright/legacy-alias-router'
import Koa, { type Middleware } from 'koa'
import type { Operation } from './operation.ts'
import type { PerformServices } from './perform.ts'
import { aliasStage, operationRoutes, type RoutedState } from './router.ts'

/** Where failures go. Never given a request body, header or key. */
export type ReportFailure = (failure: { requestId: string; operation: string; error: unknown }) => void

/**
 * The Koa application: request id, error rendering, old names, routes. A fault becomes 503 and anything
 * unexpected 500, both with fixed texts; what happened goes to `report`.
 */
export function createApp(
  table: readonly Operation[],
  services: PerformServices & { readonly aliases: Aliases },
  report: ReportFailure,
): Koa<RoutedState> {
  const app = new Koa<RoutedState>()
  // Koa prints errors it meets after the answer was decided, such as a client that went away.
  app.silent = true
  app.use(guardErrors(report))
  app.use(aliasStage(services.aliases))
  app.use(operationRoutes(table, services))
  return app
}

function guardErrors(report: ReportFailure): Middleware<RoutedState> {
  return async (ctx, next) => {
    const requestId = randomUUID()
    ctx.set('X-Request-Id', requestId)
    try {
      await next()
    } catch (error) {
      const shape = ctx.path.startsWith('/partner/') ? 'partner' : 'plain'
      report({ requestId, operation: `${ctx.method} ${ctx.path}`, error })
      send(ctx, error instanceof Fault ? faultAnswer(error, shape) : errorAnswer(shape))
    }
  }
}
