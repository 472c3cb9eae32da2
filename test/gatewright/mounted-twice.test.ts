// A guard that is mounted twice on one route says so: when the route is declared where that can be seen, else at the first request.
import { createServer, type RequestListener } from 'node:http'
import Router from '@koa/router'
import express from 'express'
import Fastify, { type FastifyInstance } from 'fastify'
import * as onExpress from 'gatewright/express'
import * as onFastify from 'gatewright/fastify'
import * as onFetch from 'gatewright/fetch'
import * as onHono from 'gatewright/hono'
import * as onKoa from 'gatewright/koa'
import * as onNext from 'gatewright/next'
import { Hono } from 'hono'
import Koa from 'koa'
import t, { type Test } from 'tap'
import { createWorld, listening, type World } from './world.ts'

const OPERATION = 'payments.create'
const WRITE = { scope: 'payments.write' } as const
const SAID = `${OPERATION}: its guard is mounted twice on one route`

type Options = World['options']
/** Declares a route whose guard is mounted twice, and returns what sends a request to it. `ran` is called by its handler. */
type Mount = (
  t: Test,
  options: Options,
  ran: () => void,
) => Promise<(request: RequestInit) => Promise<Response>>

async function on(t: Test, listener: RequestListener) {
  const server = await listening(createServer(listener).listen(0, '127.0.0.1'))
  t.teardown(() => server.close())
  return (request: RequestInit): Promise<Response> => fetch(server.url, request)
}

/** An Express application, mounted by a function that gets the guard and the handler. */
const expressBy =
  (mount: (app: express.Express, protect: express.RequestHandler, handler: express.RequestHandler) => void) =>
  (t: Test, options: Options, ran: () => void) => {
    const app = express()
    mount(
      app,
      onExpress.gatewright(options).protectWrite(OPERATION, WRITE) as express.RequestHandler,
      (_, response) => {
        ran()
        response.json({})
      },
    )
    return on(t, app)
  }

type KoaGuard = ReturnType<ReturnType<typeof onKoa.gatewright>['protectWrite']>
const koaBy =
  (mount: (app: Koa, protect: KoaGuard, handler: Koa.Middleware) => void) =>
  (t: Test, options: Options, ran: () => void) => {
    const app = new Koa()
    mount(app, onKoa.gatewright(options).protectWrite(OPERATION, WRITE), ctx => {
      ran()
      ctx.body = {}
    })
    return on(t, app.callback())
  }

type HonoGuard = ReturnType<ReturnType<typeof onHono.gatewright>['protectWrite']>
const honoBy =
  (
    mount: (
      app: Hono,
      protect: HonoGuard,
      handler: (c: { json(body: object): Response }) => Response,
    ) => void,
  ) =>
  async (_t: Test, options: Options, ran: () => void) => {
    const app = new Hono()
    mount(app, onHono.gatewright({ ...options, peer: 'none' }).protectWrite(OPERATION, WRITE), c => {
      ran()
      return c.json({})
    })
    return async (request: RequestInit) => app.request('/', request)
  }

type Protect = ReturnType<ReturnType<typeof onFastify.gatewright>['protectWrite']>
const fastifyBy =
  (
    mount: (app: FastifyInstance, protect: Protect, handler: () => Promise<object>) => void,
    hasPlugin = true,
  ) =>
  async (t: Test, options: Options, ran: () => void) => {
    const gw = onFastify.gatewright(options)
    const app = Fastify()
    t.teardown(() => app.close())
    if (hasPlugin) await app.register(gw.plugin)
    mount(app, gw.protectWrite(OPERATION, WRITE), async () => {
      ran()
      return {}
    })
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    return (request: RequestInit) => fetch(url, request)
  }

/** Hooks of a route twice. Fastify's own type of the option is not that of the hooks. */
const twice = ({ onRequest, preHandler, ...rest }: Protect): object => ({
  ...rest,
  onRequest: [onRequest, onRequest],
  preHandler: [preHandler, preHandler],
})

/** Where the two guards are, and whether that can be seen before the first request. */
const MOUNTS: Readonly<Record<string, { readonly at: 'start' | 'first request'; readonly mount: Mount }>> = {
  'Express, one route': {
    at: 'first request',
    mount: expressBy((app, protect, handler) => app.post('/', protect, protect, handler)),
  },
  'Express, application and route': {
    at: 'first request',
    mount: expressBy((app, protect, handler) => app.use(protect).post('/', protect, handler)),
  },
  'Express, router and route': {
    at: 'first request',
    mount: expressBy((app, protect, handler) =>
      app.use(express.Router().use(protect).post('/', [protect], handler)),
    ),
  },
  'node:http': {
    at: 'first request',
    mount(t, options, ran) {
      const protect = onExpress.gatewright(options).protectWrite(OPERATION, WRITE)
      return on(t, (request, response) =>
        protect(request, response, () =>
          protect(request, response, () => {
            ran()
            response.end()
          }),
        ),
      )
    },
  },
  'Koa, one route': {
    at: 'first request',
    mount: koaBy((app, protect, handler) => {
      const router = new Router()
      router.post('/', protect as Koa.Middleware, protect as Koa.Middleware, handler)
      app.use(router.routes())
    }),
  },
  'Koa, application and route': {
    at: 'first request',
    mount: koaBy((app, protect, handler) => {
      const router = new Router()
      router.post('/', protect as Koa.Middleware, handler)
      app.use(protect as Koa.Middleware).use(router.routes())
    }),
  },
  'Hono, one route': {
    at: 'first request',
    mount: honoBy((app, protect, handler) => app.post('/', protect, protect, handler)),
  },
  'Hono, application and route': {
    at: 'first request',
    mount: honoBy((app, protect, handler) => app.use(protect).post('/', protect, handler)),
  },
  'Fastify, hooks before the body': {
    at: 'start',
    mount: fastifyBy((app, { onRequest, ...protect }, handler) =>
      app.post('/', { ...protect, onRequest: [onRequest, onRequest] as never }, handler),
    ),
  },
  'Fastify, hooks after the body': {
    at: 'start',
    mount: fastifyBy((app, { preHandler, ...protect }, handler) =>
      app.route({
        method: 'POST',
        url: '/',
        ...protect,
        preHandler: [preHandler, preHandler] as never,
        handler,
      }),
    ),
  },
  'Fastify, in a plugin': {
    at: 'start',
    mount: fastifyBy((app, protect, handler) =>
      app.register(async child => child.post('/', twice(protect), handler)),
    ),
  },
  'Fastify, application and route': {
    at: 'first request',
    mount: fastifyBy((app, protect, handler) => {
      app.addHook('onRequest', protect.onRequest as never)
      app.post('/', protect as object, handler)
    }),
  },
  'Fastify, without the plugin': {
    at: 'first request',
    mount: fastifyBy((app, protect, handler) => app.post('/', twice(protect), handler), false),
  },
}

t.comment('measured where | said at')
for (const [name, { at, mount }] of Object.entries(MOUNTS))
  t.test(
    `${name}: a guard that is mounted twice says so at the ${at}, and its handler does not run`,
    async t => {
      const { options, token } = createWorld()
      const failures: string[] = []
      let runs = 0
      const gate = {
        report: ({ error }: { readonly error: unknown }) => void failures.push((error as Error).message),
        hint: false as const,
      }
      const mounting = mount(t, { ...options, gate } as Options, () => runs++)
      t.comment(`measured ${name} | ${at}`)
      if (at === 'start') return t.rejects(mounting, { name: 'TypeError', message: SAID })
      const send = await mounting
      const response = await send({
        method: 'POST',
        body: '{}',
        headers: {
          authorization: `Bearer ${await token('payments.write')}`,
          'content-type': 'application/json',
          'idempotency-key': 'key-00000001',
        },
      })
      t.equal(response.status, 500)
      t.equal(runs, 0)
      return t.match(failures[0], SAID)
    },
  )

t.test('Fastify: two guards on one route are an error when it is declared', async t => {
  const gw = onFastify.gatewright(createWorld().options)
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(gw.plugin)
  const [one, other] = [
    gw.protectRead('payments.list', { scope: 'payments.read', methods: ['POST'] }),
    gw.protectWrite(OPERATION, WRITE),
  ]
  const onRequest = [one.onRequest, other.onRequest] as never
  t.throws(() => app.post('/', { onRequest }, async () => ({})), {
    name: 'TypeError',
    message: /^payments\.list: its route has the guard of payments\.create, too/,
  })
  // One guard, also with a HEAD route that Fastify adds, and with hooks of the application.
  const hook = async (): Promise<void> => {}
  t.doesNotThrow(() =>
    app.get('/', { ...one, onRequest: [hook, one.onRequest] as never, preHandler: one.preHandler }, hook),
  )
})

const FRAMEWORKS: Readonly<Record<string, (options: Options) => unknown>> = {
  Express: options => onExpress.gatewright(options),
  Koa: options => onKoa.gatewright(options),
  Hono: options => onHono.gatewright({ ...options, peer: 'none' }),
  fetch: options => onFetch.gatewright({ ...options, peer: 'none' }),
  'Next.js': options => onNext.gatewright({ ...options, peer: 'none' }),
}

/** The functions of a framework that mount a handler, called with one. */
function mountsOf(name: string): Record<string, (handler: never) => unknown> {
  const gw = FRAMEWORKS[name]?.(createWorld().options) as Record<
    string,
    (operation: string, options: object, handler: never) => unknown
  >
  const wraps = name === 'fetch' || name === 'Next.js'
  const names = ['open', 'read', 'write', ...(wraps ? ['protectRead', 'protectWrite'] : [])]
  return Object.fromEntries(
    names.map(each => [
      each,
      (handler: never) =>
        gw[each]?.(
          `${each.toLowerCase()}.mount`,
          each === 'open' ? {} : { scope: 'payments.write' },
          handler,
        ),
    ]),
  )
}

for (const name of Object.keys(FRAMEWORKS))
  t.test(`${name}: a handler that is guarded already is an error when it is mounted`, async t => {
    const handler = (() => ({ status: 200 })) as never
    for (const [inner, guard] of Object.entries(mountsOf(name))) {
      const guarded = guard(handler) as never
      for (const [outer, mount] of Object.entries(mountsOf(name)))
        t.throws(() => mount(guarded), {
          name: 'TypeError',
          message: `${outer.toLowerCase()}.mount: the handler is guarded already, as ${inner.toLowerCase()}.mount`,
        })
    }
  })

t.test('a request object that is handled again later is served again', async t => {
  const { options, token } = createWorld()
  const gw = onFetch.gatewright({ ...options, peer: 'none' })
  const read = gw.read('payments.list', { scope: 'payments.read' }, () => ({ status: 200, body: {} }))
  const narrow = new Request('http://api.test/', {
    headers: { authorization: `Bearer ${await token('payments.write')}` },
  })
  t.same([(await read(narrow)).status, (await read(narrow)).status], [403, 403])
  const request = new Request('http://api.test/', {
    headers: { authorization: `Bearer ${await token('payments.read')}` },
  })
  t.same([(await read(request)).status, (await read(request)).status], [200, 200])
})
