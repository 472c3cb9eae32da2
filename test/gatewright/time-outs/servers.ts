// Servers with a time-out at each place.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { serve } from '@hono/node-server'
import Router from '@koa/router'
import express, { type RequestHandler } from 'express'
import Fastify from 'fastify'
import * as onExpress from 'gatewright/express'
import * as onFastify from 'gatewright/fastify'
import * as onFetch from 'gatewright/fetch'
import * as onHono from 'gatewright/hono'
import * as onKoa from 'gatewright/koa'
import * as onNext from 'gatewright/next'
import * as onNode from 'gatewright/node'
import { Hono, type Context, type Next } from 'hono'
import Koa from 'koa'
import { listening } from '../world.ts'
import { payment, type Attempt, type Place, type StartPayments } from './matrix.ts'

type Now = () => Attempt

/** Responds on a Node response when the time of a place is up, as `res.setTimeout(ms, () => res.sendStatus(408))` does. */
function timeOut(now: Now, place: Place, response: ServerResponse): void {
  const attempt = now()
  if (attempt.place !== place) return
  const respond = async (): Promise<void> => {
    await attempt.timeUp
    if (!response.writableEnded)
      response.writeHead(attempt.status, { 'content-type': 'text/plain' }).end('late')
  }
  void respond()
}

const around =
  (now: Now, listener: RequestListener): RequestListener =>
  (request, response) => {
    timeOut(now, 'outside', response)
    listener(request, response)
  }

const onServer = (listener: RequestListener): ReturnType<StartPayments> =>
  listening(createServer(listener).listen(0, '127.0.0.1'))

const PAID = { paid: true }

const startExpress =
  (mount: 'route' | 'use'): StartPayments =>
  async ({ options }, now) => {
    const gw = onExpress.gatewright(options)
    const app = express()
    const timing =
      (place: Place): RequestHandler =>
      (_request, response, next) => {
        timeOut(now, place, response)
        next()
      }
    const guard = gw.protectWrite('payments.create', payment)
    const pay: RequestHandler = async (_request, response) => {
      await now().work()
      response.status(201).json(PAID)
    }
    if (mount === 'route') app.post('/payments', timing('before'), guard, timing('after'), pay)
    else {
      app.use(timing('before'), guard, timing('after'))
      app.post('/payments', pay)
    }
    app.use(((_error, _request, response, _next) => {
      if (!response.headersSent) response.sendStatus(500)
    }) as express.ErrorRequestHandler)
    return onServer(around(now, app))
  }

const startNode =
  (returns: boolean): StartPayments =>
  async ({ options }, now) => {
    const gw = onNode.gatewright(options)
    const guard = gw.protectWrite('payments.create', payment)
    const pay = async (_request: IncomingMessage, response: ServerResponse): Promise<void> => {
      await now().work()
      response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(PAID))
    }
    return onServer(
      around(now, (request, response) => {
        timeOut(now, 'before', response)
        guard(request, response, () => {
          timeOut(now, 'after', response)
          const done = pay(request, response)
          done.catch(() => {})
          return returns ? done : undefined
        })
      }),
    )
  }

const startKoa =
  (mount: 'router' | 'use'): StartPayments =>
  async ({ options }, now) => {
    const gw = onKoa.gatewright(options)
    const timing =
      (place: Place): Koa.Middleware =>
      async (ctx, next) => {
        const attempt = now()
        const isUp = attempt.place === place && attempt.timeUp.then(() => true)
        const gone = next()
        gone.catch(() => {})
        if (isUp && (await Promise.race([isUp, gone.then(() => false)]))) {
          ctx.status = attempt.status
          ctx.body = 'late'
        } else await gone
      }
    const guard = gw.protectWrite('payments.create', payment) as unknown as Koa.Middleware
    const pay = async (ctx: Koa.Context): Promise<void> => {
      await now().work()
      ctx.status = 201
      ctx.body = PAID
    }
    const app = new Koa()
    app.silent = true
    app.use(timing('outside'))
    if (mount === 'use') app.use(timing('before')).use(guard).use(timing('after')).use(pay)
    else {
      const router = new Router()
      router.post(
        '/payments',
        timing('before') as never,
        guard as never,
        timing('after') as never,
        pay as never,
      )
      app.use(router.routes())
    }
    return onServer(app.callback())
  }

const startFastify: StartPayments = async ({ options }, now) => {
  const gw = onFastify.gatewright(options)
  const app = Fastify({
    serverFactory: handler =>
      createServer(around(now, (request, response) => handler(request, response))) as never,
  })
  await app.register(gw.plugin)
  const timing = (
    place: Place,
    reply: { sent: boolean; code(status: number): { send(body: string): unknown } },
  ): void => {
    const attempt = now()
    if (attempt.place !== place) return
    const respond = async (): Promise<void> => {
      await attempt.timeUp
      if (!reply.sent) reply.code(attempt.status).send('late')
    }
    void respond()
  }
  app.addHook('onRequest', async (_request, reply) => timing('before', reply))
  const { preHandler, ...hooks } = gw.protectWrite('payments.create', payment)
  app.post(
    '/payments',
    {
      ...hooks,
      preHandler: [preHandler, async (_request: unknown, reply: never) => timing('after', reply)] as never,
    },
    async (_request, reply) => {
      await now().work()
      return reply.code(201).send(PAID)
    },
  )
  await app.listen({ port: 0, host: '127.0.0.1' })
  return listening(app.server)
}

const onFetchServer = (
  fetch: (request: Request) => Response | Promise<Response>,
): ReturnType<StartPayments> =>
  listening(serve({ fetch, port: 0, hostname: '127.0.0.1' }) as ReturnType<typeof createServer>)
const peer = (): string => '127.0.0.1'

/** Responds when the time of a place is up, and leaves the other promise alone. */
async function raced(now: Now, place: Place, response: Promise<Response>): Promise<Response> {
  const attempt = now()
  response.catch(() => {})
  if (attempt.place !== place) return response
  const late = attempt.timeUp.then(() => new Response('late', { status: attempt.status }))
  return Promise.race([late, response])
}

const startHono: StartPayments = async ({ options }, now) => {
  const gw = onHono.gatewright({ ...options, peer })
  const app = new Hono()
  const timing = (place: Place) => async (context: Context, next: Next) => {
    const attempt = now()
    if (attempt.place !== place) return next()
    const gone = next()
    gone.catch(() => {})
    const isUp = attempt.timeUp.then(() => true)
    if (await Promise.race([isUp, gone.then(() => false)]))
      return context.json({ late: true }, attempt.status as 408)
    return undefined
  }
  app.onError((_error, context) => context.text('error', 500))
  app.use('*', timing('outside'))
  app.post(
    '/payments',
    timing('before'),
    gw.protectWrite('payments.create', payment) as never,
    timing('after'),
    async context => {
      await now().work()
      return context.json(PAID, 201)
    },
  )
  return onFetchServer(request => app.fetch(request))
}

const startFetch: StartPayments = async ({ options }, now) => {
  const gw = onFetch.gatewright({ ...options, peer })
  const handle = gw.protectWrite('payments.create', payment, async () => {
    await now().work()
    return Response.json(PAID, { status: 201 })
  })
  return onFetchServer(request => raced(now, 'outside', raced(now, 'before', handle(request, undefined))))
}

const startNext: StartPayments = async ({ options }, now) => {
  const gw = onNext.gatewright({ ...options, peer })
  const POST = gw.protectWrite('payments.create', payment, async () => {
    await now().work()
    return Response.json(PAID, { status: 201 })
  })
  const handle = (request: Request): Promise<Response> => POST(request, { params: Promise.resolve({}) })
  return onFetchServer(request => raced(now, 'outside', raced(now, 'before', handle(request))))
}

/** The servers, and the places that a time-out can have there. */
export const SERVERS: Readonly<Record<string, { start: StartPayments; places?: readonly Place[] }>> = {
  'Express, in the route': { start: startExpress('route') },
  'Express, app.use': { start: startExpress('use') },
  'node:http, next returns the promise': { start: startNode(true) },
  'node:http, next returns nothing': { start: startNode(false) },
  'Koa, router': { start: startKoa('router') },
  'Koa, app.use': { start: startKoa('use') },
  Fastify: { start: startFastify },
  Hono: { start: startHono },
  // Nothing can be between the guard and the handler that it wraps.
  fetch: { start: startFetch, places: ['outside', 'before'] },
  'Next.js': { start: startNext, places: ['outside', 'before'] },
}
