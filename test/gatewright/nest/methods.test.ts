// Which methods are guarded, and which declarations would guard nothing.
import { Controller, Get, Injectable, Module, Post, Scope, SetMetadata, type Type } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { Accepted, GatewrightModule, GatewrightParts, Read, Write } from 'gatewright/nest'
import t from 'tap'
import { createApp, decorate, onePayment, Root, send, start, startNest } from '../nest-app.ts'
import { write, writeAmount } from '../operations.ts'
import { createWorld } from '../world.ts'

const pay = (): object => ({ paid: true })

/** A class with one method, which is decorated. */
function paying(decorators: readonly MethodDecorator[]): Type<{ pay(): object }> {
  class Payments {
    pay(): object {
      return pay()
    }
  }
  decorate(Payments, 'pay', decorators)
  return Payments
}
const declared = Write('payments.create', write)

/** A decorator that replaces the method and drops its metadata. */
const dropsMetadata: MethodDecorator = (_prototype, _name, descriptor) => {
  const { value } = descriptor as TypedPropertyDescriptor<unknown>
  const method = value as (...given: unknown[]) => unknown
  ;(descriptor as TypedPropertyDescriptor<unknown>).value = function (this: unknown, ...given: unknown[]) {
    return method.apply(this, given)
  }
}

/** A decorator that replaces the method and copies its metadata, as those that trace calls do. */
const copiesMetadata: MethodDecorator = (prototype, name, descriptor) => {
  const { value: before } = descriptor as TypedPropertyDescriptor<unknown>
  dropsMetadata(prototype, name, descriptor)
  const { value: after } = descriptor as TypedPropertyDescriptor<unknown>
  for (const key of Reflect.getMetadataKeys(before as object))
    Reflect.defineMetadata(key, Reflect.getMetadata(key, before as object), after as object)
}

t.test('nest: a method that declares two operations is a TypeError', async t => {
  t.throws(() => paying([Read('payments.list', { scope: 'payments.read' }), declared]), {
    name: 'TypeError',
    message: /Payments\.pay is declared as payments\.list and as payments\.create: use one of/,
  })
})

t.test('nest: without the module, a declared method is served to nobody', async t => {
  let runs = 0
  class Payments {
    pay(): object {
      runs++
      return pay()
    }
  }
  decorate(Payments, 'pay', [Post('payments'), declared])
  Controller()(Payments)
  class App extends Root {}
  Module({ controllers: [Payments] })(App)
  const app = await createApp(App)
  await app.listen(0, '127.0.0.1')
  t.teardown(() => app.close())
  t.equal((await fetch(`${await app.getUrl()}/payments`, { method: 'POST' })).status, 500)
  t.equal(runs, 0)
})

t.test('nest: an adapter of another platform stops the start', async t => {
  class Other extends ExpressAdapter {
    override getType(): string {
      return 'other'
    }
  }
  class App extends Root {}
  Module({ imports: [GatewrightModule.forRoot(createWorld().options)] })(App)
  const starting = NestFactory.create(App, new Other(), { logger: false, abortOnError: false })
  await t.rejects(starting, {
    name: 'TypeError',
    message: /works on the adapters of Express and Fastify, got other: use @nestjs\/platform-express/,
  })
})

t.test('nest: a program without a server has the parts', async t => {
  class App extends Root {}
  const controllers = [paying([Post('payments'), declared])]
  Module({ imports: [GatewrightModule.forRoot(createWorld().options)], controllers })(App)
  const app = await NestFactory.createApplicationContext(App, { logger: false, abortOnError: false })
  t.teardown(() => app.close())
  t.type(app.get(GatewrightParts).once, 'function')
})

t.test('nest: other code calls a declared method as it is', t => {
  const Payments = paying([Post('payments'), declared])
  t.same(new Payments().pay(), pay())
  t.end()
})

t.test('nest: an operation on a provider stops the start, because nothing would guard it', async t => {
  const Resolver = paying([declared])
  Injectable()(Resolver)
  await t.rejects(startNest(createWorld(), [], undefined, [Resolver]), {
    name: 'TypeError',
    message:
      /payments\.create on Payments\.pay: .*Payments is a provider .*declare the operation on a controller/,
  })
})

t.test('nest: a controller may be a provider, too', async t => {
  const Payments = paying([Post('payments'), declared])
  Controller()(Payments)
  const { url, close } = await startNest(createWorld(), [Payments], undefined, [Payments])
  t.teardown(close)
  t.equal((await fetch(`${url}/payments`, { method: 'POST' })).status, 401)
})

t.test('nest: an operation on a handler of messages stops the start', async t => {
  for (const pattern of ['microservices:pattern', 'websockets:message_mapping']) {
    const Payments = paying([Post('payments'), SetMetadata(pattern, ['pay']), declared])
    Controller()(Payments)
    await t.rejects(startNest(createWorld(), [Payments]), {
      name: 'TypeError',
      message: /payments\.create on Payments\.pay: the method also handles messages/,
    })
  }
})

t.test('nest: an operation below a decorator that replaces its method stops the start', async t => {
  for (const replaces of [dropsMetadata, copiesMetadata]) {
    const Payments = paying([Post('payments'), replaces, declared])
    Controller()(Payments)
    await t.rejects(startNest(createWorld(), [Payments]), {
      name: 'TypeError',
      message:
        /payments\.create on Payments\.pay: the method was replaced .*above all decorators that replace/,
    })
  }
  const Right = paying([Post('payments'), declared, dropsMetadata])
  Controller()(Right)
  const { post } = await start(t, Right)
  t.match([await post({}), await post({})], [{ replayed: false }, { replayed: true }])
})

t.test('nest: a route that overrides an operation without one stops the start', async t => {
  class Own extends paying([Post('payments'), declared]) {
    override pay() {
      return pay()
    }
  }
  decorate(Own, 'pay', [Post('payments')])
  Controller()(Own)
  await t.rejects(startNest(createWorld(), [Own]), {
    name: 'TypeError',
    message: /payments\.create on Own\.pay: the method was replaced by a subclass/,
  })
})

t.test('nest: controllers inherit operations', async t => {
  const Base = paying([Post(), declared])
  class Cards extends Base {}
  class Transfers extends Base {}
  Controller('cards')(Cards)
  Controller('transfers')(Transfers)
  const world = createWorld()
  const { url, close } = await startNest(world, [Cards, Transfers])
  t.teardown(close)
  for (const path of ['/cards', '/transfers']) {
    t.match(await send(world, url, { path, key: `key-of-${path}`, scope: 'payments.read' }), { status: 403 })
    t.match(await send(world, url, { path, key: `key-of-${path}` }), { status: 201, replayed: false })
    t.match(await send(world, url, { path, key: `key-of-${path}` }), { status: 201, replayed: true })
  }
})

t.test(
  'nest: an application with a declared method that the constructor replaces does not start',
  async t => {
    const replaced: readonly ((method: () => object) => () => object)[] = [
      method => method.bind(undefined),
      method => () => method(),
      () => () => ({}),
    ]
    for (const replace of replaced) {
      class Payments {
        constructor() {
          this.pay = replace(this.pay)
        }
        pay() {
          return {}
        }
      }
      decorate(Payments, 'pay', [Post('payments'), declared])
      Controller()(Payments)
      await t.rejects(
        startNest(createWorld(), [Payments]),
        /payments\.create on Payments\.pay: an instance has another function in its place, which nothing would guard/,
      )
    }
  },
)

t.test('nest: guards controllers that are made for each request', async t => {
  let made = 0
  class Payments {
    constructor() {
      made++
    }
    pay({ effectId }: { effectId: string }) {
      return { id: effectId }
    }
  }
  decorate(Payments, 'pay', [Post('payments'), Write('payments.create', writeAmount)], [Accepted()])
  Controller({ scope: Scope.REQUEST })(Payments)
  const { world, url, post } = await start(t, Payments)
  t.match(await send(world, url, { scope: 'payments.read' }), { status: 403 })
  const first = await post({ amountCents: 10_000 })
  t.match(first, { status: 201 })
  t.match(await post({ amountCents: 10_000 }), { status: 201, json: first.json, replayed: true })
  t.match(await post({ amountCents: 1 }, 'another-key'), { status: 403 })
  t.equal(made, 4)
})

t.test('nest: two applications of one process share a controller and no state', async t => {
  const controller = onePayment(pay)
  const [one, two] = [await start(t, controller), await start(t, controller)]
  for (const { post } of [one, two]) {
    t.match(await post({ amountCents: 10_000 }), { status: 201, replayed: false })
    t.match(await post({ amountCents: 10_000 }), { status: 201, replayed: true })
  }
  t.equal(controller.runs, 2)
})

t.test('nest: a read answers HEAD, and denies it without a body', async t => {
  class Payments {
    list() {
      return [1]
    }
  }
  decorate(Payments, 'list', [Get('payments'), Read('payments.list', { scope: 'payments.read' })])
  Controller()(Payments)
  const { world, url } = await start(t, Payments)
  const authorization = `Bearer ${await world.token('payments.read')}`
  const head = await fetch(`${url}/payments`, { method: 'HEAD', headers: { authorization } })
  t.same([head.status, await head.text()], [200, ''])
  const denied = await fetch(`${url}/payments`, { method: 'HEAD' })
  t.same([denied.status, await denied.text()], [401, ''])
})
