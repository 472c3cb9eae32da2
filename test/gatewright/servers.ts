import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { serve } from '@hono/node-server'
import Router from '@koa/router'
import type { Session, Verdict } from '@gatewright/kernel'
import express from 'express'
import Fastify from 'fastify'
import * as onExpress from 'gatewright/express'
import * as onFastify from 'gatewright/fastify'
import * as onFetch from 'gatewright/fetch'
import * as onHono from 'gatewright/hono'
import * as onKoa from 'gatewright/koa'
import * as onNext from 'gatewright/next'
import * as onNode from 'gatewright/node'
import { Hono } from 'hono'
import Koa from 'koa'
import { handlers, read, withdraw, write, writeAmount } from './operations.ts'
import type { Start } from './suite.ts'
import { listening } from './world.ts'

export const startExpress: Start = async ({ options, processor }) => {
  const gw = onExpress.gatewright(options)
  const handle = handlers(processor)
  const app = express()
  app.post('/payments', gw.write('payments.create', writeAmount, handle.pay))
  app.post('/refundable', gw.write('refundable.create', writeAmount, handle.payHalf))
  app.post('/withdrawals', gw.write('withdrawals.create', withdraw, handle.withdraw))
  app.get('/payments/:id', gw.read('payments.read', read, handle.find))
  app.get('/status', gw.open('status.read', {}, handle.status))
  const createExisting = gw.protectWrite('existing.create', write)
  app.post('/existing', createExisting, async (request, response) => {
    const { session, effectId } = createExisting.accepted(request)
    await processor.pay(100, effectId)
    response.status(201).json({ id: effectId, owner: session.accountId })
  })
  const readExisting = gw.protectRead('existing.read', { scope: 'payments.read' })
  app.get('/existing', readExisting, (request, response) => {
    void gw.session(request).then(session => response.json(owners(readExisting.accepted(request), session)))
  })
  return listening(app.listen(0, '127.0.0.1'))
}

/** The caller by the middleware, and by `session(request)`. */
const owners = ({ session }: { session: Session }, caller: Verdict<Session>) => ({
  owner: session.accountId,
  caller: caller.ok ? caller.value.accountId : caller.code,
})

const startNode: Start = async ({ options, processor }) => {
  const gw = onNode.gatewright(options)
  const handle = handlers(processor)
  const send = (response: ServerResponse, status: number, body: object): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const createExisting = gw.protectWrite('existing.create', write)
  const readExisting = gw.protectRead('existing.read', { scope: 'payments.read' })
  const find = gw.read(
    'payments.read',
    { scope: read.scope, query: read.query },
    ({ facts, query, session }) =>
      handle.find({ query, session, params: { id: facts.path.split('/')[2] } } as never),
  )
  type Listener = (request: IncomingMessage, response: ServerResponse) => void
  const routes: Record<string, Listener> = {
    'POST /payments': gw.write('payments.create', writeAmount, handle.pay),
    'POST /refundable': gw.write('refundable.create', writeAmount, handle.payHalf),
    'POST /withdrawals': gw.write('withdrawals.create', withdraw, handle.withdraw),
    'GET /payments/pay_1': find,
    'GET /status': gw.open('status.read', {}, handle.status),
    'POST /existing': (request, response) =>
      createExisting(request, response, () => {
        const { session, effectId } = createExisting.accepted(request)
        void processor
          .pay(100, effectId)
          .then(() => send(response, 201, { id: effectId, owner: session.accountId }))
      }),
    'GET /existing': (request, response) =>
      readExisting(request, response, () =>
        gw
          .session(request)
          .then(session => send(response, 200, owners(readExisting.accepted(request), session))),
      ),
  }
  const server = createServer((request, response) => {
    routes[`${request.method} ${request.url?.split('?')[0]}`]?.(request, response)
  })
  return listening(server.listen(0, '127.0.0.1'))
}

const startKoa: Start = async ({ options, processor }) => {
  const gw = onKoa.gatewright(options)
  const handle = handlers(processor)
  const router = new Router()
  router.post('/payments', gw.write('payments.create', writeAmount, handle.pay))
  router.post('/refundable', gw.write('refundable.create', writeAmount, handle.payHalf))
  router.post('/withdrawals', gw.write('withdrawals.create', withdraw, handle.withdraw))
  router.get('/payments/:id', gw.read('payments.read', read, handle.find))
  router.get('/status', gw.open('status.read', {}, handle.status))
  const createExisting = gw.protectWrite('existing.create', write)
  router.post('/existing', createExisting, async ctx => {
    const { session, effectId } = createExisting.accepted(ctx)
    await processor.pay(100, effectId)
    ctx.status = 201
    ctx.body = { id: effectId, owner: session.accountId }
  })
  const readExisting = gw.protectRead('existing.read', { scope: 'payments.read' })
  router.get('/existing', readExisting, async ctx => {
    ctx.body = owners(readExisting.accepted(ctx), await gw.session(ctx))
  })
  return listening(new Koa().use(router.routes()).listen(0, '127.0.0.1'))
}

const startFastify: Start = async ({ options, processor }) => {
  const gw = onFastify.gatewright(options)
  const handle = handlers(processor)
  const app = Fastify()
  await app.register(gw.plugin)
  app.post('/payments', gw.write('payments.create', writeAmount, handle.pay))
  app.post('/refundable', gw.write('refundable.create', writeAmount, handle.payHalf))
  app.post('/withdrawals', gw.write('withdrawals.create', withdraw, handle.withdraw))
  app.get('/payments/:id', gw.read('payments.read', read, handle.find))
  app.get('/status', gw.open('status.read', {}, handle.status))
  const createExisting = gw.protectWrite('existing.create', write)
  app.post('/existing', createExisting, async (request, reply) => {
    const { session, effectId } = createExisting.accepted(request)
    await processor.pay(100, effectId)
    return reply.code(201).send({ id: effectId, owner: session.accountId })
  })
  const readExisting = gw.protectRead('existing.read', { scope: 'payments.read' })
  app.get('/existing', readExisting, async request =>
    owners(readExisting.accepted(request), await gw.session(request)),
  )
  await app.listen({ port: 0, host: '127.0.0.1' })
  return listening(app.server)
}

/** What Hono's server for Node passes beside a request. */
interface NodeEnv {
  readonly incoming: IncomingMessage
}
/** What stands for it where a handler is not given it. */
const ENV = { incoming: { socket: { remoteAddress: '127.0.0.1' } } } as NodeEnv
const peer = (_request: Request, env: NodeEnv): string | undefined => env.incoming.socket.remoteAddress

const onServer = (fetch: (request: Request, env: never) => Response | Promise<Response>): ReturnType<Start> =>
  listening(
    serve({ fetch: fetch as never, port: 0, hostname: '127.0.0.1' }) as ReturnType<typeof createServer>,
  )

const startHono: Start = async ({ options, processor }) => {
  const gw = onHono.gatewright({ ...options, peer })
  const handle = handlers(processor)
  const app = new Hono<{ Bindings: NodeEnv }>()
  app.post('/payments', gw.write('payments.create', writeAmount, handle.pay))
  app.post('/refundable', gw.write('refundable.create', writeAmount, handle.payHalf))
  app.post('/withdrawals', gw.write('withdrawals.create', withdraw, handle.withdraw))
  app.get('/payments/:id', gw.read('payments.read', read, handle.find))
  app.get('/status', gw.open('status.read', {}, handle.status))
  const createExisting = gw.protectWrite('existing.create', write)
  app.post('/existing', createExisting, async context => {
    const { session, effectId } = createExisting.accepted(context)
    await processor.pay(100, effectId)
    return context.json({ id: effectId, owner: session.accountId }, 201)
  })
  const readExisting = gw.protectRead('existing.read', { scope: 'payments.read' })
  app.get('/existing', readExisting, async context =>
    context.json(owners(readExisting.accepted(context), await gw.session(context))),
  )
  return onServer(app.fetch)
}

type FetchRoute = (request: Request, env: NodeEnv, params?: Record<string, string>) => Promise<Response>

/** Finds the route of a request, as a server without a router would. */
const routed =
  (routes: Readonly<Record<string, FetchRoute>>) =>
  (request: Request, env: NodeEnv): Promise<Response> => {
    const [, first, id] = new URL(request.url).pathname.split('/')
    const route = routes[`${request.method} /${first}${id ? '/:id' : ''}`] as FetchRoute
    return route(request, env, id ? { id } : {})
  }

const startFetch: Start = async ({ options, processor }) => {
  const gw = onFetch.gatewright({ ...options, peer })
  const handle = handlers(processor)
  return onServer(
    routed({
      'POST /payments': gw.write('payments.create', writeAmount, handle.pay),
      'POST /refundable': gw.write('refundable.create', writeAmount, handle.payHalf),
      'POST /withdrawals': gw.write('withdrawals.create', withdraw, handle.withdraw),
      'GET /payments/:id': gw.read('payments.read', read, handle.find),
      'GET /status': gw.open('status.read', {}, handle.status),
      'POST /existing': gw.protectWrite('existing.create', write, async (_request, { session, effectId }) => {
        await processor.pay(100, effectId)
        return Response.json({ id: effectId, owner: session.accountId }, { status: 201 })
      }),
      'GET /existing': gw.protectRead(
        'existing.read',
        { scope: 'payments.read' },
        async (request, accepted) => Response.json(owners(accepted, await gw.session(request, ENV))),
      ),
    }),
  )
}

/** Calls the route handlers as Next.js does: with the request, and a context that has a promise of the path parameters. */
const startNext: Start = async ({ options, processor }) => {
  const gw = onNext.gatewright({ ...options, peer: () => '192.0.2.1' })
  const handle = handlers(processor)
  const routes = {
    'POST /payments': gw.write('payments.create', writeAmount, handle.pay),
    'POST /refundable': gw.write('refundable.create', writeAmount, handle.payHalf),
    'POST /withdrawals': gw.write('withdrawals.create', withdraw, handle.withdraw),
    'GET /payments/:id': gw.read('payments.read', read, handle.find),
    'GET /status': gw.open('status.read', {}, handle.status),
    'POST /existing': gw.protectWrite('existing.create', write, async (_request, { session, effectId }) => {
      await processor.pay(100, effectId)
      return Response.json({ id: effectId, owner: session.accountId }, { status: 201 })
    }),
    'GET /existing': gw.protectRead('existing.read', { scope: 'payments.read' }, async (request, accepted) =>
      Response.json(owners(accepted, await gw.session(request))),
    ),
  }
  const served = Object.entries(routes).map(([name, route]) => {
    const serveNext: FetchRoute = (request, _env, params = {}) =>
      route(request, { params: Promise.resolve(params) })
    return [name, serveNext] as const
  })
  return onServer(routed(Object.fromEntries(served)))
}

/** A server of each framework. */
export const SERVERS: Readonly<Record<string, Start>> = {
  Express: startExpress,
  'node:http': startNode,
  Koa: startKoa,
  Fastify: startFastify,
  Hono: startHono,
  fetch: startFetch,
  'Next.js': startNext,
}
