// Time-outs, refusals and streams of single frameworks.
import { createServer } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { serve } from '@hono/node-server'
import Router from '@koa/router'
import express, { type RequestHandler } from 'express'
import Fastify from 'fastify'
import * as onExpress from 'gatewright/express'
import * as onFastify from 'gatewright/fastify'
import * as onHono from 'gatewright/hono'
import * as onKoa from 'gatewright/koa'
import * as onNode from 'gatewright/node'
import { Hono, type Context, type MiddlewareHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { stream, streamText } from 'hono/streaming'
import { timeout } from 'hono/timeout'
import Koa from 'koa'
import t, { type Test } from 'tap'
import { createWorld, listening, type Listening, type World } from '../world.ts'
import { payment } from './matrix.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

/** A world whose repeats do not wait, and a function that sends a write with one key. */
async function open(t: Test, start: (world: World) => Promise<Listening>) {
  const given = createWorld()
  const world = { ...given, options: { ...given.options, idempotency: { waitMs: 0 } } }
  const server = await start(world)
  t.teardown(() => server.close())
  const authorization = `Bearer ${await world.token('payments.write')}`
  return async (hasBody = true) => {
    const response = await fetch(`${server.url}/payments`, {
      method: 'POST',
      headers: { authorization, 'idempotency-key': 'the-same-key', ...(hasBody ? JSON_TYPE : {}) },
      ...(hasBody ? { body: '{}' } : {}),
    })
    const text = await response.text()
    return `${response.status}${response.headers.has('idempotency-replayed') ? ' replay' : ''} ${text}`
  }
}

/** A promise that a test resolves. */
function deferred<T>() {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>(given => {
    resolve = given
  })
  return { promise, resolve }
}

async function turns(): Promise<void> {
  for (let n = 0; n < 8; n++) await turn()
}

const onHonoServer = (app: Hono): Promise<Listening> =>
  listening(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as ReturnType<typeof createServer>)

/** A Hono application with middlewares before its write, whose handler responds as given. */
const honoApp =
  (before: readonly MiddlewareHandler[], respond: (context: Context) => Response | Promise<Response>) =>
  async ({ options }: World): Promise<Listening> => {
    const gw = onHono.gatewright({ ...options, peer: () => '127.0.0.1' })
    const app = new Hono()
    for (const each of before) app.use('*', each)
    app.post('/payments', gw.protectWrite('payments.create', payment) as never, context => respond(context))
    return onHonoServer(app)
  }

t.test('hono/timeout around the guard: the payment is recorded, and nothing is logged', async t => {
  const paid = deferred<void>()
  const errors = t.capture(console, 'error')
  const late = (): HTTPException => new HTTPException(408, { message: 'too late' })
  const post = await open(
    t,
    honoApp([timeout(1, late)], async context => {
      await paid.promise
      return context.json({ paid: true }, 201)
    }),
  )
  t.equal(await post(), '408 too late')
  paid.resolve()
  await turns()
  t.equal(await post(), '201 replay {"paid":true}')
  t.same(errors.args(), [])
})

t.test('Hono: a stream whose callback fails half-way is not stored as a success', async t => {
  t.capture(console, 'error')
  const failing = async (writer: { write(text: string): Promise<unknown> }): Promise<void> => {
    await writer.write('half')
    throw new Error('broken')
  }
  const broken = (): Response =>
    new Response(
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('half'))
          controller.error(new Error('broken'))
        },
      }),
    )
  for (const respond of [
    (context: Context) => stream(context, failing),
    (context: Context) => streamText(context, failing),
    broken,
  ]) {
    const post = await open(t, honoApp([], respond))
    t.match(await post(), /^500 /)
    t.match(await post(), /^503 .*outcome_unknown/)
  }
})

t.test('handlerTimeout of Fastify: the amount stays held, and what the handler sent is recorded', async t => {
  const paid = deferred<void>()
  const post = await open(t, async ({ options }) => {
    const gw = onFastify.gatewright(options)
    const app = Fastify()
    await app.register(gw.plugin)
    app.setErrorHandler((error, _request, reply) => reply.code(408).send((error as { code?: string }).code))
    const hooks = gw.protectWrite('payments.create', { ...payment, noEffectStatuses: [408] })
    // Fastify 5.12 stops its timer when a request body has been read, so the requests have none.
    app.post('/payments', { ...hooks, handlerTimeout: 100 }, async (_request, reply) => {
      await paid.promise
      return reply.code(201).send({ paid: true })
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    return listening(app.server)
  })
  t.equal(await post(false), '408 FST_ERR_HANDLER_TIMEOUT')
  t.match(await post(false), /^503 .*outcome_unknown/)
  paid.resolve()
  await turns()
  t.equal(await post(false), '201 replay {"paid":true}')
})

t.test('Express: response.setTimeout of the handler itself frees no key', async t => {
  const paid = deferred<void>()
  for (const pay of [
    async (_request, response) => {
      response.setTimeout(1, () => response.sendStatus(408))
      await paid.promise
      if (!response.headersSent) response.status(201).json({ paid: true })
    },
    (_request, response) => {
      response.setTimeout(1, () => response.sendStatus(408))
      void paid.promise.then(() => response.status(201).json({ paid: true }))
    },
  ] satisfies RequestHandler[]) {
    const post = await open(t, async ({ options }) => {
      const gw = onExpress.gatewright(options)
      const app = express()
      app.post('/payments', gw.protectWrite('payments.create', payment), pay)
      return listening(app.listen(0, '127.0.0.1'))
    })
    t.equal(await post(), '408 Request Timeout')
    t.match(await post(), /^503 .*outcome_unknown/)
  }
})

t.test('a refusal of the handler itself still frees the key in every framework', async t => {
  let runs = 0
  const starts: Record<string, (world: World) => Promise<Listening>> = {
    async Express({ options }) {
      const gw = onExpress.gatewright(options)
      const app = express()
      const pass: RequestHandler = (_request, _response, next) => next()
      app.post('/payments', gw.protectWrite('payments.create', payment), pass, (_request, response) => {
        runs++
        setImmediate(() => response.status(422).send('refused'))
      })
      return listening(app.listen(0, '127.0.0.1'))
    },
    async 'node:http'({ options }) {
      const guard = onNode.gatewright(options).protectWrite('payments.create', payment)
      const server = createServer((request, response) =>
        guard(request, response, async () => {
          runs++
          await turn()
          response.writeHead(422).end('refused')
        }),
      )
      return listening(server.listen(0, '127.0.0.1'))
    },
    async Koa({ options }) {
      const guard = onKoa.gatewright(options).protectWrite('payments.create', payment)
      const router = new Router()
      router.post('/payments', guard as never, async (ctx, _next) => {
        runs++
        await turn()
        ctx.status = 422
        ctx.body = 'refused'
      })
      return listening(new Koa().use(router.routes()).listen(0, '127.0.0.1'))
    },
    async Fastify({ options }) {
      const gw = onFastify.gatewright(options)
      const app = Fastify()
      await app.register(gw.plugin)
      app.post('/payments', gw.protectWrite('payments.create', payment), async (_request, reply) => {
        runs++
        await turn()
        reply.code(422)
        return 'refused'
      })
      await app.listen({ port: 0, host: '127.0.0.1' })
      return listening(app.server)
    },
    Hono: honoApp([], async context => {
      runs++
      await turn()
      return context.text('refused', 422)
    }),
  }
  for (const [name, start] of Object.entries(starts)) {
    runs = 0
    const post = await open(t, start)
    t.same([await post(), await post(), runs], ['422 refused', '422 refused', 2], name)
  }
})
