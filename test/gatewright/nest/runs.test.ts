// When the method of a write runs, and what counts as its outcome.
import { AsyncResource } from 'node:async_hooks'
import {
  Controller,
  HttpException,
  Post,
  Res,
  StreamableFile,
  UseInterceptors,
  UsePipes,
  type CallHandler,
  type ExecutionContext,
} from '@nestjs/common'
import { nothingHappened } from 'gatewright'
import { Write } from 'gatewright/nest'
import type { Response } from 'express'
import { firstValueFrom, of, race, retry, Subject, throwError } from 'rxjs'
import { mergeMap } from 'rxjs/operators'
import t from 'tap'
import { decorate, isFastify, onePayment, start } from '../nest-app.ts'
import { write } from '../operations.ts'

const paid = (): object => ({ paid: true })

t.test('nest: a method never starts after a time-out has responded, and its key is free', async t => {
  const timeOut = new Subject<void>()
  const pipe = { passed: new Subject<void>(), isSlow: true }
  const slowPipe = {
    async transform(value: unknown) {
      if (pipe.isSlow) {
        timeOut.next()
        await firstValueFrom(pipe.passed)
      }
      return value
    },
  }
  const gaveUp = timeOut.pipe(mergeMap(() => throwError(() => new HttpException('time-out', 408))))
  const timingOut = { intercept: (_: ExecutionContext, next: CallHandler) => race(gaveUp, next.handle()) }
  const controller = onePayment(paid, [UseInterceptors(timingOut), UsePipes(slowPipe)])
  const { post } = await start(t, controller)
  t.match(await post({ amountCents: 10_000 }), { status: 408 })
  pipe.passed.next()
  await new Promise(setImmediate)
  t.equal(controller.runs, 0)
  pipe.isSlow = false
  t.match(await post({ amountCents: 10_000 }), { status: 201, replayed: false })
  t.equal(controller.runs, 1)
})

t.test('nest: a response is stored, whichever asynchronous context an interceptor uses', async t => {
  const outside = new AsyncResource('queue')
  const queueing = {
    intercept: (_: ExecutionContext, next: CallHandler) => outside.runInAsyncScope(() => next.handle()),
  }
  const controller = onePayment(paid, [UseInterceptors(queueing)])
  const { post } = await start(t, controller)
  t.match(await post({ amountCents: 10_000 }), { status: 201, replayed: false })
  t.match(await post({ amountCents: 10_000 }), { status: 201, replayed: true })
  t.equal(controller.runs, 1)
})

t.test('nest: what a called method throws says nothing about the method that catches it', async t => {
  class Payments {
    static runs = 0
    async byCard(): Promise<object> {
      throw nothingHappened(new HttpException('declined', 402))
    }
    async pay() {
      Payments.runs++
      try {
        return await this.byCard()
      } catch {
        return { paid: 'by transfer' }
      }
    }
  }
  decorate(Payments, 'byCard', [Post('cards'), Write('cards.pay', write)])
  decorate(Payments, 'pay', [Post('payments'), Write('payments.create', write)])
  Controller()(Payments)
  const { post } = await start(t, Payments)
  t.match(await post({}), { status: 201, replayed: false })
  t.match(await post({}), { status: 201, replayed: true })
  t.equal(Payments.runs, 1)
})

t.test(
  'nest: where an interceptor runs a method again, its last error does not speak for the first',
  async t => {
    const errors = [new Error('timed out'), nothingHappened(new HttpException('refused', 422))]
    const again = { intercept: (_: ExecutionContext, next: CallHandler) => next.handle().pipe(retry(1)) }
    const fail = (): never => {
      throw errors.shift() as Error
    }
    const controller = onePayment(fail, [UseInterceptors(again)], { noEffectStatuses: [422] })
    const { post } = await start(t, controller)
    t.equal((await post({ amountCents: 1 })).status, 422)
    t.equal(controller.runs, 2)
    t.equal((await post({ amountCents: 1 })).status, 503)
  },
)

t.test('nest: a method may return an Observable or a thenable', async t => {
  const thenable = (): object => ({
    // oxlint-disable-next-line unicorn/no-thenable -- as a query builder is
    then: (resolve: (value: object) => void) => resolve({ paid: true }),
  })
  for (const act of [() => of({ paid: true }), thenable]) {
    const controller = onePayment(act)
    const { post } = await start(t, controller)
    const first = await post({ amountCents: 10_000 })
    t.match(first, { status: 201, json: { paid: true }, replayed: false })
    t.match(await post({ amountCents: 10_000 }), { status: 201, json: first.json, replayed: true })
    t.equal(controller.runs, 1)
  }
})

t.test('nest: an Observable that fails leaves the outcome unknown', async t => {
  const { post } = await start(
    t,
    onePayment(() => throwError(() => new HttpException('late', 422))),
  )
  t.same([(await post({ amountCents: 1 })).status, (await post({ amountCents: 1 })).status], [422, 503])
})

t.test('nest: stores what a method sends itself', async t => {
  class Payments {
    static runs = 0
    pay(response: Response) {
      Payments.runs++
      response.status(202).send({ accepted: true })
    }
  }
  decorate(Payments, 'pay', [Post('payments'), Write('payments.create', write)], [Res()])
  Controller()(Payments)
  const { post } = await start(t, Payments)
  t.match(await post({}), { status: 202, json: { accepted: true }, replayed: false })
  t.match(await post({}), { status: 202, json: { accepted: true }, replayed: true })
  t.equal(Payments.runs, 1)
})

t.test('nest: a write that returns a stream is an error, and its outcome is unknown', async t => {
  const controller = onePayment(() => new StreamableFile(Buffer.from('bytes')))
  const { post } = await start(t, controller)
  t.same([(await post({ amountCents: 1 })).status, (await post({ amountCents: 1 })).status], [500, 503])
  t.equal(controller.runs, 1)
})

t.test('nest: a replay has each header field of the application once', async t => {
  const { world, url } = await start(t, onePayment(paid), app => app.enableCors())
  const request = {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await world.token('payments.write')}`,
      'content-type': 'application/json',
      'idempotency-key': 'the-same-key',
      origin: 'https://shop.example',
    },
    body: '{"amountCents":1}',
  }
  for (const replayed of [null, 'true']) {
    const response = await fetch(`${url}/payments`, request)
    t.equal(response.headers.get('idempotency-replayed'), replayed)
    t.equal(response.headers.get('access-control-allow-origin'), '*')
    t.equal(response.headers.get('x-powered-by'), isFastify ? null : 'Express')
    await response.body?.cancel()
  }
  const denied = await fetch(`${url}/payments`, {
    method: 'POST',
    headers: { origin: 'https://shop.example' },
  })
  t.same([denied.status, denied.headers.get('access-control-allow-origin')], [401, '*'])
})
