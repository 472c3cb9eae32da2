// An application of Nest for tests. Decorators are called as functions, since they cannot be erased.
// oxlint-disable-next-line import/no-unassigned-import -- it adds functions to Reflect, which Nest calls
import 'reflect-metadata'
import { Body, Controller, Module, Post, type INestApplication, type Type } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import { GatewrightModule, Write } from 'gatewright/nest'
import type { Test } from 'tap'
import { write, writeAmount } from './operations.ts'
import { createWorld, listening, type Listening, type World } from './world.ts'

/** Whether the tests run on Fastify, as `nest/platforms.slow.ts` runs them. */
export const isFastify = process.env['NEST_PLATFORM'] === 'fastify'

/** Makes an application of a module, on the platform of this run. */
export async function createApp(root: Type): Promise<INestApplication> {
  const options = { logger: false, abortOnError: false } as const
  if (isFastify) return NestFactory.create<NestFastifyApplication>(root, new FastifyAdapter(), options)
  return NestFactory.create(root, new ExpressAdapter(), options)
}

/** Decorates a method, the last decorator first. */
export function decorate(
  { prototype }: Type,
  name: string,
  decorators: readonly MethodDecorator[],
  parameters: readonly ParameterDecorator[] = [],
): void {
  for (const [index, each] of parameters.entries()) each(prototype as object, name, index)
  for (const each of decorators.toReversed()) {
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name) as TypedPropertyDescriptor<never>
    each(prototype as object, name, descriptor)
    Object.defineProperty(prototype, name, descriptor)
  }
}

/** A class for a module of Nest, which needs no members. */
export class Root {
  readonly isModule = true
}

/** Starts an application with controllers. */
export async function startNest(
  world: World,
  controllers: readonly Type[],
  prepare?: (app: INestApplication) => void,
  providers: readonly Type[] = [],
): Promise<Listening> {
  class App extends Root {}
  Module({
    imports: [GatewrightModule.forRoot(world.options)],
    controllers: [...controllers],
    providers: [...providers],
  })(App)
  const app = await createApp(App)
  prepare?.(app)
  await app.listen(0, '127.0.0.1')
  const { url } = await listening(app.getHttpServer())
  return { url, close: () => app.close() }
}

/** Sends a write under a key. */
export async function send(
  world: World,
  url: string,
  {
    path = '/payments',
    body = {},
    key = 'the-same-key',
    scope = 'payments.write',
  }: { path?: string; body?: object; key?: string; scope?: string } = {},
): Promise<{ status: number; json: Record<string, unknown>; replayed: boolean }> {
  const authorization = `Bearer ${await world.token(scope)}`
  const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': key }
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  return {
    status: response.status,
    json: (await response.json()) as Record<string, unknown>,
    replayed: response.headers.get('idempotency-replayed') === 'true',
  }
}

/** A controller with one write, whose method runs `act`. */
export function onePayment(
  act: (body: { amountCents: number }) => unknown,
  more: readonly (MethodDecorator & ClassDecorator)[] = [],
  options: object = {},
): Type & { runs: number } {
  class Payments {
    static runs = 0
    pay(body: { amountCents: number }) {
      Payments.runs++
      return act(body)
    }
  }
  Controller()(Payments)
  const { spends } = writeAmount
  decorate(
    Payments,
    'pay',
    [Post('payments'), ...more, Write('payments.create', { ...write, spends: spends as never, ...options })],
    [Body()],
  )
  return Payments
}

/** Starts an application with one controller, in a world of its own. */
export async function start(t: Test, controller: Type, prepare?: (app: INestApplication) => void) {
  const world = createWorld()
  const { url, close } = await startNest(world, [controller], prepare)
  t.teardown(close)
  return {
    world,
    url,
    post: (body: object, key?: string) => send(world, url, { body, ...(key ? { key } : {}) }),
  }
}
