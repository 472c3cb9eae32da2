import { randomUUID } from 'node:crypto'
import { errorAnswer, faultAnswer, type TrustedProxies } from '@gatewright/http'
import { requestFacts, send } from '@gatewright/http/koa'
import { Fault, type Clock } from '@gatewright/kernel'
import { answerHeaders } from '@gatewright/legacy-alias-router'
import Koa, { type Middleware } from 'koa'
import { aliasStage } from './aliases.ts'
import { commonHeaders } from './cors.ts'
import { decisionOf, type Observe } from './decision.ts'
import { shapeOfPath, traceIdOf, type Exchange, type ExchangeState } from './exchange.ts'
import { openResponses, wantsOpenResponses } from './open-responses.ts'
import type { Operation } from './operation.ts'
import type { PerformServices } from './perform.ts'
import { errorShape } from './render.ts'
import { operationRoutes } from './router.ts'

/** What the application needs besides its table. */
export interface AppServices extends PerformServices {
  readonly clock: Clock
  /** Names the service in Open Responses answers. */
  readonly serviceName: string
  readonly observe: Observe
  /** Whose word about client address and scheme counts. */
  readonly trusted: TrustedProxies
}

/**
 * The Koa application: request id, old names, routes, errors, rendering, one decision event per request. A fault
 * becomes 503 and anything unexpected 500, both with fixed texts.
 */
export function createApp(table: readonly Operation[], services: AppServices): Koa<ExchangeState> {
  const app = new Koa<ExchangeState>()
  // Koa prints errors it meets after the answer was decided, such as a client that went away.
  app.silent = true
  app.use(answerStage(services))
  app.use(aliasStage(services.aliases))
  app.use(operationRoutes(table, services))
  return app
}

/** Opens the exchange, and closes it with an answer whatever happens in between. */
function answerStage(services: AppServices): Middleware<ExchangeState> {
  const { clock, observe, serviceName, trusted } = services
  return async (ctx, next) => {
    const facts = { oldNames: [], ...requestFacts(ctx, trusted) }
    const exchange: Exchange = {
      requestId: randomUUID(),
      traceId: traceIdOf(facts.header('traceparent')),
      startedAtMs: performance.now(),
      facts,
    }
    ctx.state.exchange = exchange
    let failure: unknown
    try {
      await next()
    } catch (error) {
      failure = error
      const { operation } = exchange
      const shape = operation ? errorShape(operation.surface) : shapeOfPath(exchange.facts.path)
      exchange.answer = error instanceof Fault ? faultAnswer(error, shape) : errorAnswer(shape)
    }
    const answer = exchange.answer ?? errorAnswer('plain')
    for (const [name, value] of commonHeaders) ctx.set(name, value)
    for (const [name, value] of answerHeaders(facts.oldNames)) ctx.set(name, value)
    ctx.set('X-Request-Id', exchange.requestId)
    send(ctx, wrapped(answer))
    observe(decisionOf(exchange, answer, failure))

    function wrapped(plain: typeof answer): typeof answer {
      const surface = exchange.operation?.surface
      if (surface === undefined || surface === 'public' || !wantsOpenResponses(exchange.facts)) return plain
      const createdAt = Math.floor(clock.now() / 1000)
      return openResponses(plain, exchange.facts, { model: `${serviceName}.${surface}`, createdAt })
    }
  }
}
