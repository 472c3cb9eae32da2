// Handlers of Nest that throw, behind the Express binding: Nest's exception filters respond, and Express sees no error.
// oxlint-disable-next-line import/no-unassigned-import -- it adds functions to Reflect, which Nest calls
import 'reflect-metadata'
import type { AddressInfo } from 'node:net'
import {
  Controller,
  HttpException,
  HttpStatus,
  Module,
  Post,
  RequestMethod,
  type CallHandler,
  type ExecutionContext,
  type MiddlewareConsumer,
  type NestInterceptor,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import type { NestExpressApplication } from '@nestjs/platform-express'
import { scopeCatalogue, nothingHappened } from '@gatewright/kernel'
import { gate, type Decision } from '@gatewright/http'
import { expressGate } from '@gatewright/http/express'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { catchError, throwError, type Observable } from 'rxjs'
import t, { type Test } from 'tap'
import { bench } from '../../scope-guard/issuer.ts'

interface SetUp {
  readonly noEffectStatuses?: readonly number[]
  /** Whether an interceptor passes errors to the gate. */
  readonly intercepts?: boolean
  readonly fail: () => unknown
}

/** A running Nest application whose handler fails. Decorators are called as functions, since they cannot be erased. */
async function setUp(t: Test, { noEffectStatuses = [], intercepts = false, fail }: SetUp) {
  const { guard, bearer } = await bench()
  const decisions: Decision[] = []
  const api = gate({
    guard,
    scopes: scopeCatalogue(['cards.write']),
    idempotency: createIdempotency({ storage: memoryIdempotency(), waitMs: 0 }),
    observe: decision => decisions.push(decision),
    hint: false,
  })
  const route = api.idempotent({ operation: 'cards.create', allOf: ['cards.write'] }, { noEffectStatuses })
  const gw = expressGate(api, { body: 'kept' })
  let runs = 0
  class Cards {
    create(): unknown {
      runs++
      return fail()
    }
  }
  Controller()(Cards)
  Post('cards')(
    Cards.prototype,
    'create',
    Object.getOwnPropertyDescriptor(Cards.prototype, 'create') as never,
  )
  class App {
    configure(consumer: MiddlewareConsumer): void {
      consumer.apply(gw.guard(route)).forRoutes({ path: 'cards', method: RequestMethod.POST })
    }
  }
  Module({ controllers: [Cards] })(App)
  const passErrors: NestInterceptor = {
    intercept: (context: ExecutionContext, next: CallHandler): Observable<unknown> =>
      next.handle().pipe(
        catchError((error: unknown) => {
          gw.failed(context.switchToHttp().getRequest(), error)
          return throwError(() => error)
        }),
      ),
  }
  const app = await NestFactory.create<NestExpressApplication>(App, { rawBody: true, logger: false })
  if (intercepts) app.useGlobalInterceptors(passErrors)
  await app.listen(0, '127.0.0.1')
  t.teardown(() => app.close())
  const url = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}/cards`
  const authorization = await bearer({ scopes: ['cards.write'] })
  const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': 'key-00000001' }
  const send = async (): Promise<number> => (await fetch(url, { method: 'POST', headers, body: '{}' })).status
  return { send, decisions, runs: () => runs }
}

const unprocessable = (): never => {
  throw new HttpException('own', HttpStatus.UNPROCESSABLE_ENTITY)
}
const marked = (): never => {
  throw nothingHappened(new HttpException('own', HttpStatus.UNPROCESSABLE_ENTITY))
}

t.test('an exception of a named status frees the key, with and without the interceptor', async t => {
  for (const intercepts of [true, false]) {
    const { send, runs, decisions } = await setUp(t, {
      noEffectStatuses: [422],
      intercepts,
      fail: unprocessable,
    })
    t.equal(await send(), 422)
    t.equal(await send(), 422)
    t.equal(runs(), 2)
    t.match(decisions, [{ outcome: 'released' }, { outcome: 'released' }])
  }
})

t.test('a marked exception frees the key where the interceptor passes it to the gate', async t => {
  const { send, runs, decisions } = await setUp(t, { intercepts: true, fail: marked })
  t.same([await send(), await send(), runs()], [422, 422, 2])
  t.match(decisions, [{ outcome: 'released' }, { outcome: 'released' }])
})

t.test('otherwise an exception leaves the outcome unknown', async t => {
  for (const { intercepts, fail, noEffectStatuses = [] } of [
    { intercepts: false, fail: marked },
    { intercepts: true, fail: unprocessable },
    { intercepts: false, fail: unprocessable },
    { intercepts: true, fail: unprocessable, noEffectStatuses: [400] },
    { intercepts: false, fail: unprocessable, noEffectStatuses: [400] },
  ]) {
    const { send, runs, decisions } = await setUp(t, { intercepts, fail, noEffectStatuses })
    t.same([await send(), await send(), runs()], [422, 503, 1])
    t.match(decisions, [{ outcome: 'unknown', operation: 'cards.create' }, { code: 'outcome_unknown' }])
  }
})

t.test('a response of a handler that does not throw is stored', async t => {
  const { send, runs, decisions } = await setUp(t, { intercepts: true, fail: () => ({ id: 1 }) })
  t.same([await send(), await send(), runs()], [201, 201, 1])
  t.match(decisions, [{ outcome: 'stored' }, { replayed: true, outcome: undefined }])
})
