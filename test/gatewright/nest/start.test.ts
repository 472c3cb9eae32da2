import { Controller, Module, Post, type Type } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import express from 'express'
import { keepRawBody } from 'gatewright/express'
import { GatewrightModule, Read, Write } from 'gatewright/nest'
import t from 'tap'
import { decorate, Root } from '../nest-app.ts'
import { createWorld } from '../world.ts'

const adapters = { Express: () => new ExpressAdapter(), Fastify: () => new FastifyAdapter() }

/** A module with one operation. */
function moduleWith(operation: MethodDecorator, imports = 1): Type {
  class Payments {
    create(): object {
      return {}
    }
  }
  decorate(Payments, 'create', [Post(), operation])
  Controller('payments')(Payments)
  class App extends Root {}
  const { options } = createWorld()
  const modules = Array.from({ length: imports }, () => GatewrightModule.forRoot(options))
  Module({ imports: modules, controllers: [Payments] })(App)
  return App
}
const write = (): MethodDecorator => Write('payments.create', { scope: 'payments.write' })

for (const [name, adapter] of Object.entries(adapters)) {
  const create = (root: Type, options: { rawBody?: boolean; bodyParser?: boolean } = {}) =>
    NestFactory.create(root, adapter(), { ...options, logger: false, abortOnError: false })

  t.test(
    `${name}: an application whose bodies are not kept does not start, and says what to write`,
    async t => {
      const app = await create(moduleWith(write()))
      await t.rejects(app.init(), { message: /rawBody: true/ })
    },
  )

  t.test(`${name}: starts with rawBody, with parsers of its own, and without a body to compare`, async t => {
    const read = Read('payments.list', { scope: 'payments.read', methods: ['POST'] })
    for (const app of [
      await create(moduleWith(write()), { rawBody: true }),
      await create(moduleWith(write()), { bodyParser: false }),
      await create(moduleWith(read)),
    ]) {
      await app.init()
      await app.close()
    }
    t.pass()
  })

  t.test(`${name}: an application that imports the module twice does not start, and says so`, async t => {
    await t.rejects(create(moduleWith(write(), 2), { rawBody: true }), {
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
