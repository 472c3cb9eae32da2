import type { FrameworkName } from './choices.ts'

/** What differs between the frameworks. */
export interface FrameworkTemplate {
  readonly packages: readonly string[]
  readonly types: readonly string[]
  /** The imports of the file with the server. */
  readonly imports: readonly string[]
  /** The type of the options of `gatewright`. */
  readonly options: string
  /** The head of the function that makes the server, up to its brace. `options` and `pay` are its parameters. */
  readonly head: string
  /** The option `peer`, where `gatewright` requires it. */
  readonly peer?: string
  /**
   * Classes whose decorators declare the payment, with the options of the write. Without them, the function declares `createPayment`
   * by `gatewright`.
   */
  readonly classes?: (options: string) => string
  /** The last statements of the function. */
  readonly mount: string
  /** The statements that start the server on `port`. */
  readonly listen: string
  /** More imports of the test. */
  readonly testImports: readonly string[]
  /** In a test: declares `send`, which sends a request, and `close`. */
  readonly send: string
}

const ADDRESS = "import type { AddressInfo } from 'node:net'"

const overHttp = (server: string): string => `const server = ${server}
  await once(server, 'listening')
  const url = \`http://127.0.0.1:\${(server.address() as AddressInfo).port}/payments\`
  const send = (request: RequestInit): Promise<Response> => fetch(url, request)
  const close = (): unknown => server.close()`
const OVER_HTTP = ["import { once } from 'node:events'", ADDRESS]

const LISTEN = `createApp({ ...options, store }, pay).listen(port, '127.0.0.1')`
const HONO_PEER = 'peer: (_request: Request, env: HttpBindings) => env.incoming.socket.remoteAddress'

/** A server with `fetch`, which Node serves with `@hono/node-server`. */
const serve = (fetch: string): Pick<FrameworkTemplate, 'listen' | 'testImports' | 'send'> => ({
  listen: `const app = createApp({ ...options, store }, pay)
serve({ fetch: ${fetch}, port, hostname: '127.0.0.1' })`,
  testImports: [...OVER_HTTP, "import { serve } from '@hono/node-server'"],
  send: `const app = createApp(gateway.options, processor.pay)
  ${overHttp(`serve({ fetch: ${fetch}, port: 0, hostname: '127.0.0.1' })`)}`,
})

const nestClasses = (options: string): string => `const PAY = Symbol('pay')

@Controller('payments')
class PaymentsController {
  constructor(@Inject(PAY) private readonly pay: Pay) {}

  @Post()
  @Write('payments.create', ${options.replaceAll('\n', '\n  ')})
  async create(@Accepted() { body, effectId }: WriteRequest<{ amountCents: number }>): Promise<object> {
    // If pay throws, nobody knows whether it has paid: the amount stays held, and the key runs no second time.
    const { status } = await this.pay(body, { idempotencyKey: effectId })
    // Nothing was paid: the amount is released, and the key is free.
    if (status === 'declined') throw nothingHappened(new HttpException({ error: 'payment_declined' }, 402))
    return { id: effectId, ...body }
  }
}

@Module({})
class AppModule {}`

/** The frameworks by name. */
export const FRAMEWORK_TEMPLATES: Readonly<Record<FrameworkName, FrameworkTemplate>> = {
  express: {
    packages: ['express'],
    types: ['@types/express'],
    imports: [
      "import express, { type Express } from 'express'",
      "import { gatewright, type ExpressOptions } from 'gatewright/express'",
    ],
    options: 'ExpressOptions',
    head: 'function createApp(options: ExpressOptions, pay: Pay): Express',
    mount: `const app = express()
  app.post('/payments', createPayment)
  return app`,
    listen: LISTEN,
    testImports: OVER_HTTP,
    send: overHttp("createApp(gateway.options, processor.pay).listen(0, '127.0.0.1')"),
  },
  fastify: {
    packages: ['fastify'],
    types: [],
    imports: [
      "import Fastify, { type FastifyInstance } from 'fastify'",
      "import type { GatewrightOptions } from 'gatewright'",
      "import { gatewright } from 'gatewright/fastify'",
    ],
    options: 'GatewrightOptions',
    head: 'async function createApp(options: GatewrightOptions, pay: Pay): Promise<FastifyInstance>',
    mount: `const app = Fastify()
  await app.register(gw.plugin)
  app.post('/payments', createPayment)
  return app`,
    listen: `const app = await createApp({ ...options, store }, pay)
await app.listen({ port, host: '127.0.0.1' })`,
    testImports: [],
    send: `const app = await createApp(gateway.options, processor.pay)
  const url = \`\${await app.listen({ port: 0, host: '127.0.0.1' })}/payments\`
  const send = (request: RequestInit): Promise<Response> => fetch(url, request)
  const close = (): unknown => app.close()`,
  },
  koa: {
    packages: ['koa', '@koa/router'],
    types: ['@types/koa'],
    imports: [
      "import Router from '@koa/router'",
      "import { gatewright, type KoaOptions } from 'gatewright/koa'",
      "import Koa from 'koa'",
    ],
    options: 'KoaOptions',
    head: 'function createApp(options: KoaOptions, pay: Pay): Koa',
    mount: `const router = new Router()
  router.post('/payments', createPayment)
  const app = new Koa()
  app.use(router.routes())
  return app`,
    listen: LISTEN,
    testImports: OVER_HTTP,
    send: overHttp("createApp(gateway.options, processor.pay).listen(0, '127.0.0.1')"),
  },
  node: {
    packages: [],
    types: [],
    imports: [
      "import { createServer, type Server } from 'node:http'",
      "import { gatewright, type ExpressOptions } from 'gatewright/node'",
    ],
    options: 'ExpressOptions',
    head: 'function createApp(options: ExpressOptions, pay: Pay): Server',
    mount: `return createServer((request, response) => {
    if (request.method === 'POST' && request.url === '/payments') createPayment(request, response)
    else response.writeHead(404).end()
  })`,
    listen: LISTEN,
    testImports: OVER_HTTP,
    send: overHttp("createApp(gateway.options, processor.pay).listen(0, '127.0.0.1')"),
  },
  hono: {
    packages: ['hono', '@hono/node-server'],
    types: [],
    imports: [
      "import { serve, type HttpBindings } from '@hono/node-server'",
      "import { gatewright, type FetchOptions } from 'gatewright/hono'",
      "import { Hono } from 'hono'",
    ],
    options: 'FetchOptions<string, HttpBindings>',
    head: "function createApp(\n  options: Omit<FetchOptions<string, HttpBindings>, 'peer'>,\n  pay: Pay,\n): Hono<{ Bindings: HttpBindings }>",
    peer: HONO_PEER,
    mount: `const app = new Hono<{ Bindings: HttpBindings }>()
  app.post('/payments', createPayment)
  return app`,
    ...serve('app.fetch'),
  },
  fetch: {
    packages: ['@hono/node-server', 'hono'],
    types: [],
    imports: [
      "import { serve, type HttpBindings } from '@hono/node-server'",
      "import { gatewright, type FetchOptions } from 'gatewright/fetch'",
    ],
    options: 'FetchOptions<string, HttpBindings>',
    head: "function createApp(\n  options: Omit<FetchOptions<string, HttpBindings>, 'peer'>,\n  pay: Pay,\n): (request: Request, env: HttpBindings) => Promise<Response>",
    // Bun, Deno and Workers pass something else than Node: the page of the quick start has a table.
    peer: HONO_PEER,
    mount: `return async (request, env) =>
    request.method === 'POST' && new URL(request.url).pathname === '/payments'
      ? createPayment(request, env)
      : new Response(null, { status: 404 })`,
    ...serve('(request, env) => app(request, env as HttpBindings)'),
    testImports: [...OVER_HTTP, "import { serve, type HttpBindings } from '@hono/node-server'"],
  },
  nest: {
    packages: ['@nestjs/common', '@nestjs/core', '@nestjs/platform-express', 'reflect-metadata', 'rxjs'],
    types: [],
    imports: [
      "import { Controller, HttpException, Inject, Module, Post, type INestApplication } from '@nestjs/common'",
      "import { NestFactory } from '@nestjs/core'",
      "import { nothingHappened, type GatewrightOptions, type WriteRequest } from 'gatewright'",
      "import { Accepted, GatewrightModule, Write } from 'gatewright/nest'",
    ],
    options: 'GatewrightOptions',
    classes: nestClasses,
    head: 'function createApp(options: GatewrightOptions, pay: Pay): Promise<INestApplication>',
    mount: `const root = {
    module: AppModule,
    imports: [GatewrightModule.forRoot(options)],
    controllers: [PaymentsController],
    providers: [{ provide: PAY, useValue: pay }],
  }
  return NestFactory.create(root)`,
    listen: `const app = await createApp({ ...options, store }, pay)
await app.listen(port, '127.0.0.1')`,
    testImports: [],
    send: `const app = await createApp(gateway.options, processor.pay)
  await app.listen(0, '127.0.0.1')
  const url = \`\${await app.getUrl()}/payments\`
  const send = (request: RequestInit): Promise<Response> => fetch(url, request)
  const close = (): unknown => app.close()`,
  },
  next: {
    packages: ['next', 'react', 'react-dom'],
    types: ['@types/react'],
    imports: ["import { gatewright, type FetchOptions, type NextHandler } from 'gatewright/next'"],
    options: 'FetchOptions',
    head: "function createRoutes(options: Omit<FetchOptions, 'peer'>, pay: Pay): { POST: NextHandler }",
    // On Vercel; other platforms have headers of their own.
    peer: "peer: request => request.headers.get('x-real-ip') ?? undefined",
    mount: 'return { POST: createPayment }',
    listen: '',
    testImports: [],
    send: `const { POST } = createRoutes(gateway.options, processor.pay)
  const send = (request: RequestInit): Promise<Response> =>
    POST(new Request('http://localhost/api/payments', request), { params: Promise.resolve({}) })
  const close = (): unknown => undefined`,
  },
}
