// What frameworks let a handler throw to end early is a response, and no failure.
import { createServer } from 'node:http'
import type { Decision } from '@gatewright/http'
import { nothingHappened } from '@gatewright/kernel'
import express from 'express'
import Fastify from 'fastify'
import * as onExpress from 'gatewright/express'
import * as onFastify from 'gatewright/fastify'
import * as onFetch from 'gatewright/fetch'
import * as onHono from 'gatewright/hono'
import * as onKoa from 'gatewright/koa'
import * as onNext from 'gatewright/next'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import createError from 'http-errors'
import Koa from 'koa'
import t from 'tap'
import { createWorld, listening, type Listening } from './world.ts'

/** An error as Next throws it: frameworks look at its digest only. */
const withDigest = (digest: string): Error => Object.assign(new Error(digest), { digest })
/** What `redirect('/paid;a')`, `permanentRedirect`, `notFound` and `forbidden` of Next throw, and responses. */
const THROWN: Readonly<
  Record<string, { make(): unknown; status: number; location?: string; body?: string }>
> = {
  'redirect of Next': {
    make: () => withDigest('NEXT_REDIRECT;replace;/paid;a;307;'),
    status: 307,
    location: '/paid;a',
  },
  'permanentRedirect of Next': {
    make: () => withDigest('NEXT_REDIRECT;push;/paid;308;'),
    status: 308,
    location: '/paid',
  },
  'notFound of Next': { make: () => withDigest('NEXT_HTTP_ERROR_FALLBACK;404'), status: 404 },
  'notFound of Next 14': { make: () => withDigest('NEXT_NOT_FOUND'), status: 404 },
  'forbidden of Next': { make: () => withDigest('NEXT_HTTP_ERROR_FALLBACK;403'), status: 403 },
  'a Response': { make: () => new Response('seen', { status: 202 }), status: 202, body: 'seen' },
  'a redirect as a Response': {
    make: () => new Response(null, { status: 303, headers: { location: '/paid' } }),
    status: 303,
    location: '/paid',
  },
}

const OPTIONS = { scope: 'payments.write' } as const

/** Serves requests to a handler that throws, or returns, what `handler` makes. */
type Serve = (handler: () => never) => (request: Request) => Promise<Response>
type Given = ReturnType<typeof seeing>['options']
const BINDINGS: Readonly<Record<string, (given: Given) => Serve>> = {
  'fetch, write': given => respond => onFetch.gatewright(given).write('payments.create', OPTIONS, respond),
  'fetch, protectWrite': given => respond =>
    onFetch.gatewright(given).protectWrite('payments.create', OPTIONS, respond),
  'Next.js, write': given => respond => request =>
    onNext.gatewright(given).write('payments.create', OPTIONS, respond)(request, {
      params: Promise.resolve({}),
    }),
  'Next.js, protectWrite': given => respond => request =>
    onNext.gatewright(given).protectWrite('payments.create', OPTIONS, respond)(request, {
      params: Promise.resolve({}),
    }),
  'Hono, write'(given) {
    return respond => {
      const app = new Hono()
      app.post('*', onHono.gatewright(given).write('payments.create', OPTIONS, respond))
      return async request => app.fetch(request)
    }
  },
}

function seeing() {
  const { options, token } = createWorld()
  const decisions: Decision[] = []
  const gate = {
    observe: (decision: Decision) => void decisions.push(decision),
    report: () => {},
    hint: false as const,
  }
  return { options: { ...options, gate, peer: 'none' } as const, token, decisions }
}

/** Sends the same write twice. Returns the responses, how often the handler ran and how its first run ended. */
async function twice(binding: string, act: () => never) {
  const { options, token, decisions } = seeing()
  let runs = 0
  const serve = (BINDINGS[binding] as (given: Given) => Serve)(options)(() => {
    runs++
    return act()
  })
  const authorization = `Bearer ${await token('payments.write')}`
  const send = async (): Promise<{ status: number; location: string | null; body: string }> => {
    const response = await serve(
      new Request('http://api.test/payments', {
        method: 'POST',
        body: '{}',
        headers: { authorization, 'content-type': 'application/json', 'idempotency-key': 'key-00000001' },
      }),
    )
    const { status, headers } = response
    return { status, location: headers.get('location'), body: await response.text() }
  }
  return { responses: [await send(), await send()], runs, outcome: decisions[0]?.outcome }
}

t.test('a thrown response is sent, stored and replayed, or frees the key, as a returned one', async t => {
  t.comment('measured binding | thrown | status | outcome | runs of two requests')
  for (const binding of Object.keys(BINDINGS))
    for (const [name, { make, status, location = null, body = '' }] of Object.entries(THROWN)) {
      const { responses, runs, outcome } = await twice(binding, () => {
        // oxlint-disable-next-line no-throw-literal, typescript/only-throw-error -- as frameworks let it be
        throw make()
      })
      const isFreed = status === 403
      t.same(
        responses,
        [1, 2].map(() => ({ status, location, body })),
        `${binding}, ${name}`,
      )
      t.equal(runs, isFreed ? 2 : 1, `${binding}, ${name}`)
      t.equal(outcome, isFreed ? 'released' : 'stored', `${binding}, ${name}`)
      t.comment(`measured ${binding} | ${name} | ${status} | ${outcome} | ${runs}`)
    }
})

t.test('a write that says that nothing happened keeps the status of its error', async t => {
  for (const binding of ['fetch, write', 'Next.js, write', 'Hono, write'])
    for (const [error, message] of [
      [createError(422, 'no such card'), 'no such card'],
      [new HTTPException(422, { message: 'secret' }), 'Unprocessable Entity'],
    ] as const) {
      const { responses, runs, outcome } = await twice(binding, () => {
        throw Object.isExtensible(error) ? nothingHappened(error) : error
      })
      for (const { status, body } of responses) {
        t.equal(status, 422, binding)
        t.match(JSON.parse(body), { error: 'unprocessable_entity', message })
      }
      t.equal(runs, 2)
      t.equal(outcome, 'released')
    }
})

t.test('any other error of a write is a failure whose outcome is unknown', async t => {
  for (const error of [
    new Error('broken'),
    createError(422),
    new HTTPException(404),
    withDigest('NEXT_REDIRECT;replace;/paid;200;'),
    withDigest('NEXT_REDIRECT'),
    withDigest('DYNAMIC_SERVER_USAGE'),
    withDigest('1234567890'),
  ]) {
    const { responses, runs, outcome } = await twice('fetch, write', () => {
      throw error
    })
    t.same(
      responses.map(({ status }) => status),
      [500, 503],
      error.message,
    )
    t.equal(runs, 1)
    t.equal(outcome, 'unknown')
  }
})

t.test('a read sends the status of the error that its handler throws', async t => {
  const { options, token } = seeing()
  const headers = { authorization: `Bearer ${await token('payments.write')}` }
  for (const [error, status] of [
    [withDigest('NEXT_REDIRECT;replace;/paid;307;'), 307],
    [withDigest('NEXT_HTTP_ERROR_FALLBACK;404'), 404],
    [createError(404), 404],
    [new HTTPException(409), 409],
    [createError(503), 500],
    [Object.assign(new Error('an error of an HTTP client'), { status: 401, response: { status: 401 } }), 500],
    [new Error('broken'), 500],
  ] as const) {
    const read = onNext.gatewright(options).read('payments.list', OPTIONS, () => {
      throw error
    })
    const response = await read(new Request('http://api.test/', { headers }), { params: Promise.resolve({}) })
    t.equal(response.status, status, error.message)
  }
})

t.test('Hono: a write that redirects by an HTTPException is stored', async t => {
  const { options, token, decisions } = seeing()
  const app = new Hono()
  app.post('*', onHono.gatewright(options).protectWrite('payments.create', OPTIONS), () => {
    throw new HTTPException(302, { res: new Response(null, { status: 302, headers: { location: '/paid' } }) })
  })
  const headers = {
    authorization: `Bearer ${await token('payments.write')}`,
    'content-type': 'application/json',
    'idempotency-key': 'key-00000001',
  }
  for (const replayed of [null, 'true']) {
    const response = await app.request('/', { method: 'POST', body: '{}', headers })
    t.equal(response.status, 302)
    t.equal(response.headers.get('location'), '/paid')
    t.equal(response.headers.get('idempotency-replayed'), replayed)
  }
  t.match(decisions[0], { outcome: 'stored' })
})

const REDIRECTS: Readonly<
  Record<string, (given: Omit<Given, 'peer'>, runs: () => void) => Promise<Listening>>
> = {
  'Express, response.redirect'(given, runs) {
    const app = express()
    app.post(
      '/',
      onExpress.gatewright(given).protectWrite('payments.create', OPTIONS),
      (_request, response) => {
        runs()
        response.redirect(303, '/paid')
      },
    )
    return listening(createServer(app).listen(0, '127.0.0.1'))
  },
  'Koa, ctx.redirect'(given, runs) {
    const app = new Koa()
    app.use(onKoa.gatewright(given).protectWrite('payments.create', OPTIONS))
    app.use(ctx => {
      runs()
      ctx.status = 303
      ctx.redirect('/paid')
    })
    return listening(createServer(app.callback()).listen(0, '127.0.0.1'))
  },
  async 'Fastify, reply.redirect'(given, runs) {
    const app = Fastify()
    const gw = onFastify.gatewright(given)
    await app.register(gw.plugin)
    app.post('/', gw.protectWrite('payments.create', OPTIONS), async (_request, reply) => {
      runs()
      return reply.redirect('/paid', 303)
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    return listening(app.server)
  },
}

for (const [name, start] of Object.entries(REDIRECTS))
  t.test(`${name}: a redirect of a write is stored and replayed`, async t => {
    const { options: given, token, decisions } = seeing()
    const { peer: _peer, ...options } = given
    let runs = 0
    const server = await start(options, () => void runs++)
    t.teardown(() => server.close())
    const headers = {
      authorization: `Bearer ${await token('payments.write')}`,
      'content-type': 'application/json',
      'idempotency-key': 'key-00000001',
    }
    for (const replayed of [null, 'true']) {
      const response = await fetch(server.url, { method: 'POST', body: '{}', headers, redirect: 'manual' })
      t.equal(response.status, 303)
      t.match(response.headers.get('location'), /\/paid$/)
      t.equal(response.headers.get('idempotency-replayed'), replayed)
    }
    t.equal(runs, 1)
    t.match(decisions[0], { outcome: 'stored' })
  })
