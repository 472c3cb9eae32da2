// A redirect of a write is its response, however a method of Nest says it.
import {
  Catch,
  Controller,
  HttpException,
  Post,
  Redirect,
  Res,
  UseFilters,
  type ArgumentsHost,
  type Type,
} from '@nestjs/common'
import { Write } from 'gatewright/nest'
import t from 'tap'
import { decorate, isFastify, startNest } from '../nest-app.ts'
import { write } from '../operations.ts'
import { createWorld } from '../world.ts'

/** The members of a response of Express or of a reply of Fastify that redirect. */
interface Redirecting {
  redirect(first: unknown, second: unknown): unknown
}
const redirect = (response: Redirecting, status: number, location: string): unknown =>
  isFastify ? response.redirect(location, status) : response.redirect(status, location)

/** A filter as teams write one for an exception that redirects. */
class RedirectFilter {
  catch(error: HttpException, host: ArgumentsHost): void {
    const { location } = error.getResponse() as { location: string }
    redirect(host.switchToHttp().getResponse(), error.getStatus(), location)
  }
}
Catch(HttpException)(RedirectFilter)

interface Case {
  act(response: Redirecting): unknown
  readonly status: number
  readonly location?: string
  readonly decorators?: readonly MethodDecorator[]
  readonly takesResponse?: boolean
}

const throws = (status: number) => (): never => {
  throw new HttpException({ location: '/paid' }, status)
}
const CASES: Readonly<Record<string, Case>> = {
  ...Object.fromEntries(
    [301, 302, 303, 307, 308].map(status => [`HttpException ${status}`, { act: throws(status), status }]),
  ),
  'HttpException, asynchronously': { act: async () => throws(307)(), status: 307 },
  'HttpException, of a filter that redirects': {
    act: throws(303),
    status: 303,
    location: '/paid',
    decorators: [UseFilters(RedirectFilter)],
  },
  '@Redirect': {
    act: () => undefined,
    status: 307,
    location: '/paid',
    decorators: [Redirect('/paid', 307)],
  },
  '@Redirect without a status': {
    act: () => undefined,
    status: 302,
    location: '/paid',
    decorators: [Redirect('/paid')],
  },
  '@Redirect, and another place that the method returns': {
    act: () => ({ url: '/elsewhere', statusCode: 303 }),
    status: 303,
    location: '/elsewhere',
    decorators: [Redirect('/paid', 307)],
  },
  '@Res': {
    act: response => redirect(response, 303, '/paid'),
    status: 303,
    location: '/paid',
    takesResponse: true,
  },
}

/** A controller whose write ends as the case says. */
function redirecting({ act, decorators = [], takesResponse = false }: Case): Type & { runs: number } {
  class Payments {
    static runs = 0
    pay(response: Redirecting): unknown {
      Payments.runs++
      const ended = act(response)
      return takesResponse ? undefined : ended
    }
  }
  Controller()(Payments)
  const parameters = takesResponse ? [Res()] : []
  decorate(Payments, 'pay', [Post('payments'), ...decorators, Write('payments.create', write)], parameters)
  return Payments
}

t.comment('measured platform | redirect | status | runs of two requests')
for (const [name, given] of Object.entries(CASES))
  t.test(`nest: a redirect of a write is sent, stored and sent again: ${name}`, async t => {
    const world = createWorld()
    const controller = redirecting(given)
    const { url, close } = await startNest(world, [controller])
    t.teardown(close)
    const headers = {
      authorization: `Bearer ${await world.token('payments.write')}`,
      'content-type': 'application/json',
      'idempotency-key': 'the-same-key',
    }
    const bodies: string[] = []
    for (const replayed of [null, 'true']) {
      const response = await fetch(`${url}/payments`, {
        method: 'POST',
        body: '{}',
        headers,
        redirect: 'manual',
      })
      t.equal(response.status, given.status)
      t.equal(response.headers.get('location'), given.location ?? null)
      t.equal(response.headers.get('idempotency-replayed'), replayed)
      bodies.push(await response.text())
    }
    t.equal(bodies[1], bodies[0])
    t.equal(controller.runs, 1)
    t.comment(
      `measured ${isFastify ? 'Fastify' : 'Express'} | ${name} | ${given.status} | ${controller.runs}`,
    )
  })
