import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import Router from '@koa/router'
import { expressGate } from '@gatewright/http/express'
import { fastifyGate } from '@gatewright/http/fastify'
import { fetchGate } from '@gatewright/http/fetch'
import { koaGate } from '@gatewright/http/koa'
import type { OpenCall } from '@gatewright/http'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import {
  effect,
  existing,
  failing,
  failures,
  paying,
  LARGE,
  stream,
  TRANSFERS,
  type MountedRoute,
  type TestServer,
  type Start,
  type World,
} from './world.ts'

const every = (world: World): MountedRoute<OpenCall>[] =>
  Object.values(world.routes) as MountedRoute<OpenCall>[]

const writes = (
  world: World,
): { path: string; kind: string; route: World['routes']['createCard']['route'] }[] =>
  existing.map(([path, operation, kind]) => ({
    path,
    kind,
    route: world.gate.idempotent({ operation, allOf: ['cards.write'] }),
  }))

const transfers = (world: World): World['routes']['pay']['route'] =>
  world.gate.idempotent({ operation: 'transfers.create', allOf: ['cards.write'], spends: 'spend' })

async function listen(listener: RequestListener): Promise<TestServer> {
  return served(createServer(listener).listen(0, '127.0.0.1'))
}

async function served(server: Server): Promise<TestServer> {
  if (!server.listening) await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export const startExpress: Start = async world => {
  const app = express()
  const gw = expressGate(world.gate, { body: 'stream' })
  app.use(gw.aliases)
  for (const { method, path, route, handler } of every(world)) {
    app[method === 'GET' ? 'get' : 'post'](path, gw.handle(route, handler))
  }
  for (const { path, kind, route } of writes(world)) {
    // oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Express 5 takes the promise
    app.post(path, gw.guard(route), async (request, response) => {
      const call = gw.call(route, request)
      await effect(world, call)
      if (kind === 'stream') stream().pipe(response)
      else if (kind === 'large') response.status(201).send(LARGE)
      else
        response
          .status(201)
          .location('/orders/1')
          .json({ order: 1, asked: request.body, account: call.session.accountId })
    })
  }
  for (const [path, route] of failures(world)) {
    app.post(path, gw.guard(route), (request, response) => {
      response.status(failing(world, gw.call(route, request))).json({ error: 'own' })
    })
  }
  const transfer = transfers(world)
  // oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Express 5 takes the promise
  app.post(TRANSFERS, gw.guard(transfer), async (request, response) => {
    const { status, body } = await paying(gw.call(transfer, request))
    response.status(status).json(body)
  })
  return listen(app)
}

export const startKoa: Start = async world => {
  const app = new Koa()
  app.silent = true
  const router = new Router()
  const gw = koaGate(world.gate, { body: 'stream' })
  app.use(gw.aliases)
  for (const { method, path, route, handler } of every(world)) {
    router.register(path, [method], gw.handle(route, handler))
  }
  for (const { path, kind, route } of writes(world)) {
    router.post(path, gw.guard(route), async ctx => {
      const call = gw.call(route, ctx)
      await effect(world, call)
      ctx.status = 201
      if (kind === 'json') ctx.set('Location', '/orders/1')
      const asked = (ctx.request as { body?: unknown }).body
      ctx.body =
        kind === 'stream'
          ? stream()
          : kind === 'large'
            ? LARGE
            : { order: 1, asked, account: call.session.accountId }
    })
  }
  for (const [path, route] of failures(world)) {
    router.post(path, gw.guard(route), ctx => {
      ctx.status = failing(world, gw.call(route, ctx))
      ctx.body = { error: 'own' }
    })
  }
  const transfer = transfers(world)
  router.post(TRANSFERS, gw.guard(transfer), async ctx => {
    const { status, body } = await paying(gw.call(transfer, ctx))
    ctx.status = status
    ctx.body = body
  })
  app.use(router.routes())
  return listen(app.callback())
}

export const startFastify: Start = async world => {
  const gw = fastifyGate(world.gate, { body: 'kept' })
  const app = Fastify({ rewriteUrl: gw.rewriteUrl, forceCloseConnections: true })
  await app.register(gw.plugin)
  for (const { method, path, route, handler } of every(world)) {
    app.route({ method, url: path, ...gw.handle(route, handler) })
  }
  for (const { path, kind, route } of writes(world)) {
    app.route({
      method: 'POST',
      url: path,
      ...gw.hooks(route),
      handler: async (request, reply) => {
        const call = gw.call(route, request)
        await effect(world, call)
        reply.code(201)
        if (kind === 'stream') return reply.send(stream())
        if (kind === 'large') return reply.send(LARGE)
        return reply
          .header('Location', '/orders/1')
          .send({ order: 1, asked: request.body, account: call.session.accountId })
      },
    })
  }
  for (const [url, route] of failures(world)) {
    app.route({
      method: 'POST',
      url,
      ...gw.hooks(route),
      handler: (request, reply) => reply.code(failing(world, gw.call(route, request))).send({ error: 'own' }),
    })
  }
  const transfer = transfers(world)
  app.route({
    method: 'POST',
    url: TRANSFERS,
    ...gw.hooks(transfer),
    handler: async (request, reply) => {
      const { status, body } = await paying(gw.call(transfer, request))
      return reply.code(status).send(body)
    },
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => app.close() }
}

interface NodeBindings {
  readonly incoming: { readonly socket: { readonly remoteAddress?: string | undefined } }
}

export const startHono: Start = async world => {
  const app = new Hono<{ Bindings: NodeBindings }>()
  const gw = fetchGate(world.gate, {
    body: 'clone',
    peer: (_request, env: NodeBindings) => env.incoming.socket.remoteAddress,
  })
  for (const { method, path, route, handler } of every(world)) {
    const handle = gw.handle(route, handler)
    app.on(method, path, c => handle(c.req.raw, c.env))
  }
  for (const { path, kind, route } of writes(world)) {
    app.post(path, gw.guard(route), async c => {
      const call = gw.call(route, c.req.raw)
      await effect(world, call)
      if (kind === 'stream') {
        return c.body(new ReadableStream(), 201, { 'content-type': 'text/event-stream' })
      }
      if (kind === 'large') return c.text(LARGE, 201)
      const asked = await c.req.json()
      return c.json({ order: 1, asked, account: call.session.accountId }, 201, { location: '/orders/1' })
    })
  }
  for (const [path, route] of failures(world)) {
    app.post(path, gw.guard(route), c =>
      c.json({ error: 'own' }, failing(world, gw.call(route, c.req.raw)) as 201),
    )
  }
  const transfer = transfers(world)
  app.post(TRANSFERS, gw.guard(transfer), async c => {
    const { status, body } = await paying(gw.call(transfer, c.req.raw))
    return c.json(body, status as 201)
  })
  const server = serve({ fetch: gw.aliases(app.fetch), port: 0, hostname: '127.0.0.1' })
  return served(server as Server)
}

export const startNode: Start = async world => {
  const gw = expressGate(world.gate, { body: 'stream' })
  const listeners = new Map<string, RequestListener>()
  for (const { method, path, route, handler } of every(world)) {
    listeners.set(`${method} ${path}`, gw.handle(route, handler))
  }
  for (const { path, kind, route } of writes(world)) {
    const guard = gw.guard(route)
    listeners.set(`POST ${path}`, (request, response) =>
      guard(request, response, async () => {
        const call = gw.call(route, request)
        await effect(world, call)
        if (kind === 'stream') return void stream().pipe(response)
        if (kind === 'large') return void response.writeHead(201).end(LARGE)
        const { body: asked } = request as { body?: unknown }
        response.writeHead(201, { 'Content-Type': 'application/json', Location: '/orders/1' })
        response.write('{"order":1,')
        response.end(`"asked":${JSON.stringify(asked)},"account":${JSON.stringify(call.session.accountId)}}`)
      }),
    )
  }
  for (const [path, route] of failures(world)) {
    const guard = gw.guard(route)
    listeners.set(`POST ${path}`, (request, response) =>
      guard(request, response, () => {
        response.writeHead(failing(world, gw.call(route, request))).end('{"error":"own"}')
      }),
    )
  }
  const transfer = transfers(world)
  const guardTransfer = gw.guard(transfer)
  listeners.set(`POST ${TRANSFERS}`, (request, response) =>
    guardTransfer(request, response, async () => {
      const { status, body } = await paying(gw.call(transfer, request))
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
    }),
  )
  return listen((request, response) =>
    gw.aliases(request, response, () => {
      const listener = listeners.get(`${request.method} ${request.url?.split('?')[0]}`)
      if (listener) listener(request, response)
      else response.writeHead(404).end()
    }),
  )
}
