// oxlint-disable-next-line import/no-unassigned-import -- it adds functions to Reflect, which Nest calls
import 'reflect-metadata'
import {
  BadRequestException,
  Catch,
  Controller,
  Get,
  HttpException,
  HttpStatus,
  Injectable,
  Module,
  Post,
  Res,
  UseGuards,
  UseInterceptors,
  UsePipes,
  type ArgumentMetadata,
  type ArgumentsHost,
  type CallHandler,
  type ExecutionContext,
  type Type,
} from '@nestjs/common'
import type { Response } from 'express'
import { nothingHappened, type ReadRequest, type WriteRequest } from 'gatewright'
import { Accepted, Caller, GatewrightModule, GatewrightParts, Open, Read, Write } from 'gatewright/nest'
import { map } from 'rxjs'
import t from 'tap'
import { read, write, writeAmount, withdraw } from './operations.ts'
import { createApp, decorate, onePayment, Root, send, start, startNest } from './nest-app.ts'
import { suite } from './suite.ts'
import { createWorld, listening, type World } from './world.ts'

type Payment = WriteRequest<{ amountCents: number }>

/** The routes of the suite of every framework, as a controller. */
function paymentsOf({ processor }: World): Type {
  class Payments {
    async pay({ body, effectId }: Payment) {
      if ((await processor.pay(body.amountCents, effectId)) === 'declined')
        throw nothingHappened(new HttpException({ error: 'payment_declined' }, HttpStatus.PAYMENT_REQUIRED))
      return { id: effectId, ...body }
    }
    async refund({ body, effectId, hold }: Payment) {
      await processor.pay(body.amountCents / 2, effectId)
      hold.settle(body.amountCents / 2)
      return { id: effectId }
    }
    async withdraw({ body, effectId, reserve, spendsNothing }: Payment, response: Response) {
      if (body.amountCents === 0) {
        spendsNothing()
        response.status(200)
        return { withdrawn: 0 }
      }
      const hold = await reserve({ amountCents: body.amountCents, currency: 'USD' })
      if (!hold.ok)
        throw nothingHappened(new HttpException({ ...hold.details, error: hold.code }, hold.status))
      await processor.pay(body.amountCents, effectId)
      hold.value.settle()
      return { id: effectId }
    }
    find({ session, query, params }: ReadRequest<{ limit?: number }, { id: string }>) {
      return { ...params, ...query, owner: session.accountId }
    }
    status() {
      return { up: true }
    }
    async existing(caller: { accountId: string }, { effectId }: Payment) {
      await processor.pay(100, effectId)
      return { id: effectId, owner: caller.accountId }
    }
    findExisting(caller: { accountId: string }) {
      // What other frameworks give middleware by session(request), Nest gives a parameter by @Caller().
      return { owner: caller.accountId, caller: caller.accountId }
    }
  }
  Controller()(Payments)
  const accepted = [Accepted()]
  decorate(Payments, 'pay', [Post('payments'), Write('payments.create', writeAmount)], accepted)
  // The order of the decorators does not matter.
  decorate(Payments, 'refund', [Write('payments.refund', writeAmount), Post('refundable')], accepted)
  decorate(
    Payments,
    'withdraw',
    [Post('withdrawals'), Write('withdrawals.create', withdraw)],
    [Accepted(), Res({ passthrough: true })],
  )
  decorate(Payments, 'find', [Get('payments/:id'), Read('payments.read', read)], accepted)
  decorate(Payments, 'status', [Get('status'), Open('status.read')])
  decorate(Payments, 'existing', [Post('existing'), Write('existing.create', write)], [Caller(), Accepted()])
  decorate(
    Payments,
    'findExisting',
    [Get('existing'), Read('existing.read', { scope: 'payments.read' })],
    [Caller()],
  )
  return Payments
}

suite(t, 'nest', world => startNest(world, [paymentsOf(world)]))

const paid = (): object => ({ paid: true })

t.test('nest: a pipe that denies the body locks no key and spends nothing', async t => {
  const validate = {
    transform(value: { note?: string }) {
      if (value.note === 'bad') throw new BadRequestException(['note must be good'])
      return value
    },
  }
  const controller = onePayment(paid, [UsePipes(validate)])
  const { post } = await start(t, controller)
  t.match(await post({ amountCents: 10_000, note: 'bad' }), {
    status: 400,
    json: { message: ['note must be good'] },
  })
  t.equal(controller.runs, 0)
  t.match(await post({ amountCents: 10_000, note: 'good' }), { status: 201, replayed: false })
  t.match(await post({ amountCents: 10_000, note: 'good' }), { status: 201, replayed: true })
  t.equal(controller.runs, 1)
})

t.test('nest: pipes get the parameters that the method declares, and no others', async t => {
  const seen: string[] = []
  const noting = {
    transform(value: unknown, { type }: ArgumentMetadata) {
      seen.push(type)
      return value
    },
  }
  const { post } = await start(t, onePayment(paid), app => app.useGlobalPipes(noting))
  t.match(await post({ amountCents: 1 }), { status: 201 })
  t.same(seen, ['body'])
})

t.test('nest: a guard of the application that denies locks no key and spends nothing', async t => {
  let isOpen = false
  const guard = { canActivate: () => isOpen }
  const controller = onePayment(paid, [UseGuards(guard)])
  const { post } = await start(t, controller)
  t.match(await post({ amountCents: 10_000 }), { status: 403 })
  isOpen = true
  t.match(await post({ amountCents: 10_000 }), { status: 201, replayed: false })
  t.equal(controller.runs, 1)
})

t.test(
  'nest: a method that throws leaves the outcome unknown, unless the team says that nothing happened',
  async t => {
    const unprocessable = (): never => {
      throw new HttpException('no', HttpStatus.UNPROCESSABLE_ENTITY)
    }
    const marked = async (): Promise<never> => {
      throw nothingHappened(new HttpException('no', HttpStatus.UNPROCESSABLE_ENTITY))
    }
    const unknown = await start(t, onePayment(unprocessable))
    t.same(
      [(await unknown.post({ amountCents: 1 })).status, (await unknown.post({ amountCents: 1 })).status],
      [422, 503],
    )
    for (const controller of [
      onePayment(marked),
      onePayment(unprocessable, [], { noEffectStatuses: [422] }),
    ]) {
      const { post } = await start(t, controller)
      t.same(
        [(await post({ amountCents: 10_000 })).status, (await post({ amountCents: 10_000 })).status],
        [422, 422],
      )
      t.equal(controller.runs, 2)
    }
  },
)

t.test('nest: an error after the method has run leaves the outcome unknown', async t => {
  const failing = {
    intercept: (_: ExecutionContext, next: CallHandler) =>
      next.handle().pipe(
        map(() => {
          throw new BadRequestException('late')
        }),
      ),
  }
  const { post } = await start(t, onePayment(paid, [UseInterceptors(failing)]))
  t.same([(await post({ amountCents: 1 })).status, (await post({ amountCents: 1 })).status], [400, 503])
})

t.test(
  'nest: a status of 400 or more that the method sets is unknown, unless the options name it',
  async t => {
    class Payments {
      static runs = 0
      pay(response: Response) {
        Payments.runs++
        response.status(402)
        return { error: 'payment_declined' }
      }
    }
    for (const [noEffectStatuses, statuses] of [
      [[], [402, 503]],
      [[402], [402, 402]],
    ] as const) {
      class Own extends Payments {
        override pay(response: Response) {
          return super.pay(response)
        }
      }
      Controller()(Own)
      const passThrough = [Res({ passthrough: true })]
      decorate(
        Own,
        'pay',
        [Post('payments'), Write('payments.create', { ...write, noEffectStatuses })],
        passThrough,
      )
      const { post } = await start(t, Own)
      t.same([(await post({})).status, (await post({})).status], statuses)
    }
  },
)

t.test('nest: a replay is what an interceptor made of the first response', async t => {
  const wrap = {
    intercept: (_: ExecutionContext, next: CallHandler) => next.handle().pipe(map(data => ({ data }))),
  }
  const { post } = await start(t, onePayment(paid), app => app.useGlobalInterceptors(wrap))
  const first = await post({ amountCents: 1 })
  t.match(first, { status: 201, json: { data: { paid: true } } })
  t.match(await post({ amountCents: 1 }), { status: 201, json: first.json, replayed: true })
})

t.test('nest: exception filters of the application see a denial, with its code and status', async t => {
  class Filter {
    catch(error: HttpException, host: ArgumentsHost) {
      const response = host.switchToHttp().getResponse<Response>()
      response.status(error.getStatus()).send({ wrapped: error.getResponse() })
    }
  }
  Catch(HttpException)(Filter)
  const { world, url } = await start(t, onePayment(paid), app => app.useGlobalFilters(new Filter()))
  const response = await fetch(`${url}/payments`, { method: 'POST' })
  t.equal(response.status, 401)
  t.match(await response.json(), { wrapped: { error: 'unauthorized' } })
  t.match(response.headers.get('www-authenticate'), /^Bearer/)
  t.match(await send(world, url, { scope: 'payments.read' }), {
    status: 403,
    json: { wrapped: { error: 'insufficient_scope' } },
  })
})

t.test('nest: options come from other providers, and the parts are injected', async t => {
  const world = createWorld()
  class Settings {
    readonly options = world.options
  }
  Injectable()(Settings)
  class SettingsModule extends Root {}
  Module({ providers: [Settings], exports: [Settings] })(SettingsModule)
  class App extends Root {}
  const root = GatewrightModule.forRootAsync({
    imports: [SettingsModule],
    inject: [Settings],
    useFactory: async ({ options }: Settings) => options,
  })
  Module({ imports: [root], controllers: [paymentsOf(world)] })(App)
  const app = await createApp(App)
  await app.listen(0, '127.0.0.1')
  t.teardown(() => app.close())
  t.type(app.get(GatewrightParts).idempotency.begin, 'function')
  const { url } = await listening(app.getHttpServer())
  t.match(await send(world, url, { body: { amountCents: 1 } }), { status: 201 })
})

t.test('nest: a wrong decorator is a TypeError when the application starts', async t => {
  for (const [decorator, message] of [
    [Write('payments.create', { scope: 'payments.wite' }), /payments\.wite/],
    [Write('payments.create', {}), /name the scope/],
    [Write('payments.create', { ...write, spend: 'spend' } as object), /spend/],
  ] as const) {
    class Payments {
      pay() {
        return {}
      }
    }
    Controller()(Payments)
    decorate(Payments, 'pay', [Post('payments'), decorator])
    await t.rejects(startNest(createWorld(), [Payments]), { name: 'TypeError', message })
  }
})

t.test('nest: a method without a decorator is as before', async t => {
  class Plain {
    hello() {
      return { hello: 'world' }
    }
  }
  Controller()(Plain)
  decorate(Plain, 'hello', [Get('hello')])
  const { url } = await start(t, Plain)
  t.same(await (await fetch(`${url}/hello`)).json(), { hello: 'world' })
})
