import express from 'express'
import Fastify from 'fastify'
import { gatewright as onFastify } from 'gatewright/fastify'
import { keepRawBody } from 'gatewright/express'
import { gatewright as onHono } from 'gatewright/hono'
import { gatewright as onKoa } from 'gatewright/koa'
import { GatewrightModule, Read, Write } from 'gatewright/nest'
import { Controller, Get, Module, Post, Injectable } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { Hono } from 'hono'
import Koa, { type Middleware } from 'koa'
import { createApp, decorate, Root } from '../../nest-app.ts'
import { listening } from '../../world.ts'
import { paid, WRITE, type Mistake, type Sent, type Trial, firstRequest, atStart } from './trial.ts'

const READ = { scope: 'payments.read' } as const
type KoaGate = ReturnType<typeof onKoa>

async function koa(trial: Trial, mount: (app: Koa, gw: KoaGate) => void, changes: object = {}) {
  const app = new Koa()
  app.silent = true
  mount(app, onKoa(trial.options(changes) as never))
  const server = await listening(app.listen(0, '127.0.0.1'))
  trial.after(() => server.close())
  return (sent?: Sent) => trial.sendTo(server.url, sent)
}

/** A parser of Koa as koa-body is: it keeps no bytes. */
const koaBody: Middleware = async (ctx, next) => {
  const chunks: Buffer[] = []
  for await (const chunk of ctx.req) chunks.push(chunk as Buffer)
  ;(ctx.request as unknown as { body: unknown }).body = JSON.parse(Buffer.concat(chunks).toString() || '{}')
  await next()
}

/** A controller with one method. */
function controller(decorators: readonly MethodDecorator[]): typeof Root {
  class Payments extends Root {
    pay(): object {
      return {}
    }
  }
  Controller()(Payments)
  decorate(Payments, 'pay', decorators)
  return Payments
}

async function nest(
  trial: Trial,
  parts: { controllers?: object[]; providers?: object[]; isImported?: boolean },
) {
  const { controllers = [], providers = [], isImported = true } = parts
  class App extends Root {}
  const imports = isImported ? [GatewrightModule.forRoot(trial.options())] : []
  Module({ imports, controllers, providers } as never)(App)
  const app = await createApp(App)
  trial.after(() => app.close())
  app.useLogger({
    log() {},
    warn() {},
    debug() {},
    verbose() {},
    error: (text: unknown) => void trial.lines.push(String(text)),
  })
  await app.listen(0, '127.0.0.1')
  const { url } = await listening(app.getHttpServer())
  return (sent?: Sent) => trial.sendTo(url, sent)
}

/** Order and place of what an application mounts. */
export const MOUNTS: readonly Mistake[] = [
  firstRequest(
    'express.json() before a gate that streams',
    /a body parser runs before the routes of the gate/,
    trial =>
      trial.express((app, gw) =>
        app.use(express.json()).post('/payments', gw.write('payments.create', WRITE, paid)),
      ),
  ),
  firstRequest('a parser of Express that keeps no bytes', /kept no bytes: app\.use\(express\.json/, trial =>
    trial.express(
      (app, gw) => app.use(express.json()).post('/payments', gw.write('payments.create', WRITE, paid)),
      { body: 'kept' },
    ),
  ),
  firstRequest('no parser of Express', /no parser has read this request/, trial =>
    trial.express((app, gw) => app.post('/payments', gw.write('payments.create', WRITE, paid)), {
      body: 'parsed',
    }),
  ),
  firstRequest('a parser of Express after the routes', /no parser has read this request/, trial =>
    trial.express(
      (app, gw) =>
        app
          .post('/payments', gw.write('payments.create', WRITE, paid))
          .use(express.json({ verify: keepRawBody })),
      { body: 'kept' },
    ),
  ),
  firstRequest('a body as text', /setEncoding/, trial =>
    trial.express((app, gw) =>
      app
        .use((request, _response, next) => {
          request.setEncoding('utf8')
          next()
        })
        .post('/payments', gw.write('payments.create', WRITE, paid)),
    ),
  ),
  firstRequest(
    'koa-body before a gate that streams',
    /a body parser runs before the routes of the gate|another parser has read/,
    trial => koa(trial, (app, gw) => app.use(koaBody).use(gw.write('payments.create', WRITE, paid))),
  ),
  firstRequest('koa-body where the bytes must be kept', /kept no bytes: app\.use\(bodyParser/, trial =>
    koa(trial, (app, gw) => app.use(koaBody).use(gw.write('payments.create', WRITE, paid)), { body: 'kept' }),
  ),
  firstRequest('a read on POST, in Express', /a read is mounted for POST/, trial =>
    trial.express((app, gw) => app.post('/payments', gw.read('payments.list', READ, paid))),
  ),
  firstRequest('a write on GET, in Express', /a write is mounted for GET/, trial =>
    trial
      .express((app, gw) => app.get('/payments', gw.write('payments.create', WRITE, paid)))
      .then(send => () => send({ method: 'GET' })),
  ),
  firstRequest('a write on GET, in Koa', /a write is mounted for GET/, trial =>
    koa(trial, (app, gw) => app.use(gw.write('payments.create', WRITE, paid))).then(
      send => () => send({ method: 'GET' }),
    ),
  ),
  atStart('a read on POST, in Fastify', /a read is mounted for POST/, async trial => {
    const app = Fastify()
    const gw = onFastify(trial.options() as never)
    await app.register(gw.plugin)
    app.post('/payments', gw.read('payments.list', READ, paid))
  }),
  atStart('a write on GET, in Fastify', /a write is mounted for GET/, async trial => {
    const app = Fastify()
    const gw = onFastify(trial.options() as never)
    await app.register(gw.plugin)
    app.get('/payments', gw.write('payments.create', WRITE, paid))
  }),
  firstRequest('no plugin of Fastify', /register.*plugin/, async trial => {
    const app = Fastify()
    const gw = onFastify(trial.options() as never)
    app.post('/payments', gw.write('payments.create', WRITE, paid))
    await app.listen({ port: 0, host: '127.0.0.1' })
    trial.after(() => app.close())
    const { url } = await listening(app.server)
    return () => trial.sendTo(url)
  }),
  firstRequest(
    'gw.write itself as a handler',
    /the first argument must be an operation .*mount what gw\.write\(\.\.\.\) returns/,
    trial =>
      trial.express((app, gw) => {
        app.post('/payments', gw.write as never)
        app.use(((error: Error, _request: unknown, response: { json(body: object): void }, _next: unknown) =>
          response.json({ error: error.message })) as never)
      }),
  ),
  firstRequest('the guard twice on a route of Express', /its guard is mounted twice/, trial =>
    trial.express((app, gw) => {
      const protect = gw.protectWrite('payments.create', WRITE)
      app.post('/payments', protect, protect, (_request, response) => void response.json({}))
    }),
  ),
  firstRequest('accepted without the guard before it', /mount its middleware before the handler/, trial =>
    trial.express((app, gw) => {
      const protect = gw.protectWrite('payments.create', WRITE)
      app.post(
        '/payments',
        (request, response) => void response.json({ id: protect.accepted(request).effectId }),
      )
      app.use(((error: Error, _request: unknown, response: { json(body: object): void }, _next: unknown) =>
        response.json({ error: error.message })) as never)
    }),
  ),
  firstRequest(
    'Koa: a middleware that does not await next()',
    /nothing after the guard has set a response.*await next\(\)/,
    trial =>
      koa(trial, (app, gw) =>
        app
          .use(gw.protectWrite('payments.create', WRITE))
          .use((_ctx, next) => {
            void next()
          })
          .use(async ctx => {
            await new Promise(setImmediate)
            ctx.body = {}
          }),
      ),
  ),
  firstRequest(
    'Koa: a handler that is not asynchronous and responds later',
    /nothing after the guard has set a response.*await next\(\)/,
    trial =>
      koa(trial, (app, gw) =>
        app.use(gw.protectWrite('payments.create', WRITE)).use(ctx => {
          setImmediate(() => {
            if (!ctx.headerSent) ctx.body = {}
          })
        }),
      ),
  ),
  firstRequest('Hono: a guard without a handler behind it', /404/, trial => {
    const gw = onHono({ ...trial.options(), peer: 'none' } as never)
    const app = new Hono()
    app.post('/payments', gw.protectWrite('payments.create', WRITE) as never)
    return () => trial.send(async request => app.fetch(request))
  }),
  firstRequest(
    'Hono: a handler that returns nothing',
    /the handler must return a Response, got nothing: a return is missing/,
    trial => {
      const gw = onHono({ ...trial.options(), peer: 'none' } as never)
      const app = new Hono().onError(error => new Response(error.message, { status: 500 }))
      app.post('/payments', gw.protectWrite('payments.create', WRITE) as never, (() => undefined) as never)
      return () => trial.send(async request => app.fetch(request))
    },
  ),
  firstRequest("Nest: the application's own parser keeps no bytes", /keepRawBody/, async trial => {
    class App extends Root {}
    Module({
      imports: [GatewrightModule.forRoot(trial.options() as never)],
      controllers: [controller([Post('payments'), Write('payments.create', WRITE)])],
    })(App)
    const app = await NestFactory.create(App, { logger: false, abortOnError: false })
    trial.after(() => app.close())
    app.use(express.json())
    await app.listen(0, '127.0.0.1')
    const { url } = await listening(app.getHttpServer())
    return () => trial.sendTo(url)
  }),
  firstRequest(
    'Nest: decorators without the module',
    /import GatewrightModule\.forRoot in the root module/,
    trial =>
      nest(trial, {
        isImported: false,
        controllers: [controller([Post('payments'), Write('payments.create', WRITE)])],
      }),
  ),
  atStart('Nest: @Write on a provider', /guard the routes of controllers/, trial => {
    const provider = controller([Write('payments.create', WRITE)])
    Injectable()(provider)
    return nest(trial, { providers: [provider] })
  }),
  atStart('Nest: @Read on @Post', /a read is mounted for POST/, trial =>
    nest(trial, { controllers: [controller([Post('payments'), Read('payments.list', READ)])] }),
  ),
  atStart('Nest: @Write on @Get', /a write is mounted for GET/, trial =>
    nest(trial, { controllers: [controller([Get('payments'), Write('payments.create', WRITE)])] }),
  ),
]
