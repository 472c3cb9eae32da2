import express from 'express'
import * as onExpress from 'gatewright/express'
import * as onFetch from 'gatewright/fetch'
import * as onKoa from 'gatewright/koa'
import t from 'tap'
import { createWorld, listening } from '../world.ts'

t.test('a handler with the parameters of a framework is a TypeError when it is mounted', t => {
  const { options } = createWorld()
  const gw = onExpress.gatewright(options)
  const koa = onKoa.gatewright(options)
  const said =
    /the handler takes [23] parameters, as \(request, response\) of a framework does, and would get one object: .*protectWrite in front/
  const handlers = [
    (_request: unknown, response: { json(body: object): void }) => response.json({}),
    async (_request: unknown, response: { json(body: object): void }, next: () => void) => {
      response.json({})
      next()
    },
  ] as unknown as (() => { status: number })[]
  for (const [index, handler] of handlers.entries()) {
    const id = (name: string): string => `${name}.create${index}`
    t.throws(() => gw.write(id('a'), { scope: [] }, handler), said)
    t.throws(() => gw.read(id('b'), { scope: [] }, handler), said)
    t.throws(() => gw.open(id('c'), {}, handler), said)
    t.throws(() => koa.write(id('d'), { scope: [] }, handler), said)
  }
  const fine = [() => ({ status: 200 }), (_request: object, _more = 1) => ({ status: 200 })]
  for (const [index, handler] of fine.entries())
    t.doesNotThrow(() => gw.write(`fine.create${index}`, { scope: [] }, handler))
  t.end()
})

t.test(
  'a handler that does not respond is reported once, after half of the time that a run may take',
  async t => {
    const cases: readonly [object, number][] = [
      [{}, 30_000],
      [{ leaseMs: 5000 }, 2500],
      [{ leaseMs: 5000, maxRunMs: 20_000 }, 10_000],
    ]
    for (const [idempotency, halfMs] of cases) {
      const world = createWorld()
      const lines: string[] = []
      const gate = { hint: (line: string) => void lines.push(line) }
      const gw = onExpress.gatewright({ ...world.options, policy: 'none', idempotency, gate })
      const app = express()
      const started: (() => void)[] = []
      const finish: (() => void)[] = []
      const starts = (): Promise<void> => new Promise(resolve => void started.push(resolve))
      const wait = (): Promise<{ status: number }> =>
        new Promise(resolve => void finish.push(() => resolve({ status: 201 })))
      app.post(
        '/handled',
        gw.write('handled.create', { scope: [] }, async () => {
          started.shift()?.()
          return wait()
        }),
      )
      app.post('/protected', gw.protectWrite('protected.create', { scope: [] }), (_request, response) => {
        finish.push(() => void response.status(201).end())
        started.shift()?.()
      })
      app.post(
        '/responds',
        gw.write('responds.create', { scope: [] }, () => ({ status: 201, body: {} })),
      )
      const server = await listening(app.listen(0, '127.0.0.1'))
      t.teardown(() => {
        for (const run of finish) run()
        return server.close()
      })
      const timers: (() => void)[] = []
      const { setTimeout } = globalThis
      const intercepted = t.intercept(globalThis, 'setTimeout', {
        value(run: () => void, ms: number, ...rest: unknown[]) {
          const timer = setTimeout(run, ms, ...(rest as []))
          if (ms === halfMs)
            timers.push(() => '_destroyed' in timer && timer['_destroyed'] === false && run())
          return timer
        },
      })
      const authorization = `Bearer ${await world.token('payments.write')}`
      const post = (path: string, key: string): Promise<Response> =>
        fetch(server.url + path, {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/json', 'idempotency-key': key },
          body: '{}',
        })
      t.equal((await post('/responds', 'the-first-key')).status, 201)
      for (const path of ['/handled', '/protected'])
        for (const key of ['the-first-key', 'the-second-key']) {
          const begun = starts()
          post(path, key).catch(() => undefined)
          await begun
        }
      intercepted.restore()
      t.same(lines, [])
      for (const run of timers) run()
      t.equal(lines.length, 2, 'once for each operation, and not for the one that has responded')
      for (const [index, operation] of ['handled.create', 'protected.create'].entries())
        t.match(
          lines[index],
          new RegExp(`${operation}: the handler of the run \\S+ has not responded for ${halfMs} ms`),
        )
    }
  },
)

t.test('a handler that responds in time is not reported, however it ends', async t => {
  const world = createWorld()
  const lines: string[] = []
  const gate = { hint: (line: string) => void lines.push(line), report: () => undefined }
  const gw = onFetch.gatewright({ ...world.options, peer: 'none', gate })
  const pending: unknown[] = []
  const { setTimeout, clearTimeout } = globalThis
  const set = t.intercept(globalThis, 'setTimeout', {
    value(run: () => void, ms: number) {
      const timer = setTimeout(run, ms)
      if (ms === 30_000) pending.push(timer)
      return timer
    },
  })
  const cleared = t.intercept(globalThis, 'clearTimeout', {
    value(timer: never) {
      if (pending.includes(timer)) pending.splice(pending.indexOf(timer), 1)
      clearTimeout(timer)
    },
  })
  const spends = ({ amountCents }: { amountCents: number }) => ({ amountCents, currency: 'USD' })
  const ends: Record<string, () => { status: number }> = {
    success: () => ({ status: 200 }),
    denied: () => ({ status: 400 }),
    fails: () => ({ status: 500 }),
    throws() {
      throw new Error('failed')
    },
  }
  const authorization = `Bearer ${await world.token('payments.write')}`
  for (const [name, end] of Object.entries(ends)) {
    const handler = gw.write(`${name}.create`, { scope: [], spends: spends as never }, end)
    for (const amountCents of [1, 1e9]) {
      const headers = {
        authorization,
        'content-type': 'application/json',
        'idempotency-key': `${name}-${amountCents}`,
      }
      const init = { method: 'POST', headers, body: JSON.stringify({ amountCents }) }
      await handler(new Request('https://api.example/', init), undefined)
    }
  }
  for (const each of [set, cleared]) each.restore()
  t.same(pending, [])
  t.same(
    lines.filter(line => line.includes('responded for')),
    [],
  )
})
