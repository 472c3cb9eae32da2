import { Controller, Module, Post, type INestApplication, type Type } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import express from 'express'
import { keepRawBody } from 'gatewright/express'
import { GatewrightModule, Read, Write } from 'gatewright/nest'
import t from 'tap'
import { decorate, Root, send } from '../nest-app.ts'
import { createWorld, listening, type World } from '../world.ts'

const adapters = { Express: () => new ExpressAdapter(), Fastify: () => new FastifyAdapter() }

/** A module with one operation. */
function moduleWith(
  operation: MethodDecorator,
  { imports = 1, world = createWorld() }: { imports?: number; world?: World } = {},
): Type {
  class Payments {
    create(): object {
      return {}
    }
  }
  decorate(Payments, 'create', [Post(), operation])
  Controller('payments')(Payments)
  class App extends Root {}
  const modules = Array.from({ length: imports }, () => GatewrightModule.forRoot(world.options))
  Module({ imports: modules, controllers: [Payments] })(App)
  return App
}
const write = (): MethodDecorator => Write('payments.create', { scope: 'payments.write' })

for (const [name, adapter] of Object.entries(adapters)) {
  const create = (root: Type, options: { rawBody?: boolean; bodyParser?: boolean } = {}) =>
    NestFactory.create(root, adapter(), { ...options, logger: false, abortOnError: false })

  t.test(
    `${name}: starts and compares bodies with and without rawBody, and with a limit of its own`,
    async t => {
      const withLimit = (app: INestApplication): unknown =>
        name === 'Express'
          ? (app as NestExpressApplication).useBodyParser('json', { limit: '1mb' })
          : (app as NestFastifyApplication).useBodyParser(
              'application/json',
              { bodyLimit: 1e6 },
              (_request, body, done) => done(null, JSON.parse(String(body))),
            )
      for (const [options, prepare] of [
        [{}, undefined],
        [{ rawBody: true }, undefined],
        [{ rawBody: false }, undefined],
        [{}, withLimit],
      ] as const) {
        const world = createWorld()
        const app = await create(moduleWith(write(), { world }), options)
        prepare?.(app)
        await app.listen(0, '127.0.0.1')
        const { url } = await listening(app.getHttpServer())
        const sent = [{ amountCents: 1 }, { amountCents: 1 }, { amountCents: 2 }].map(body => ({ body }))
        const statuses: string[] = []
        for (const each of sent) {
          const { status, replayed, json } = await send(world, url, each)
          statuses.push(`${status} ${replayed ? 'replayed' : ((json as { error?: string }).error ?? 'done')}`)
        }
        t.same(
          statuses,
          ['201 done', '201 replayed', '400 idempotency_key_reused'],
          JSON.stringify([options, prepare?.name]),
        )
        await app.close()
      }
    },
  )

  t.test(`${name}: keeps no body of an application without a write, and starts without parsers`, async t => {
    const read = Read('payments.list', { scope: 'payments.read', methods: ['POST'] })
    for (const [root, options] of [
      [moduleWith(write()), { bodyParser: false }],
      [moduleWith(read), {}],
    ] as const) {
      const app = await create(root, options)
      await app.init()
      await app.close()
    }
    t.pass()
  })

  t.test(`${name}: an application that imports the module twice does not start, and says so`, async t => {
    await t.rejects(create(moduleWith(write(), { imports: 2 })), {
      message: /GatewrightModule is imported twice/,
    })
  })
}

t.test('Express: starts with a parser that keeps bodies itself', async t => {
  const app = await NestFactory.create(moduleWith(write()), new ExpressAdapter(), {
    logger: false,
    abortOnError: false,
  })
  app.use(express.json({ verify: keepRawBody }))
  await app.init()
  await app.close()
  t.pass()
})
