import { randomUUID } from 'node:crypto'
import { fetchGate } from '@gatewright/http/fetch'
import t from 'tap'
import { createWorld } from './e2e/world.ts'

t.test(
  'denies a body whose length differs from content-length, although its stream ended normally',
  async t => {
    const { gate, bearer, routes, effects } = await createWorld()
    const { path, route, handler } = routes.createCard
    const post = fetchGate(gate, { body: 'stream', peer: () => '203.0.113.9' }).handle(route, handler)
    const authorization = await bearer({ scopes: ['cards.write'] })
    const key = randomUUID()
    const send = async (announced: number, sent: string): Promise<Response> => {
      const headers = {
        authorization,
        'idempotency-key': key,
        'content-type': 'application/json',
        'content-length': String(announced),
      }
      const init = { method: 'POST', headers, body: new Blob([sent]).stream(), duplex: 'half' }
      return post(new Request(`http://host${path}`, init as RequestInit), undefined)
    }
    // Whole JSON on both sides of the cut, so that only the length differs.
    const whole = '{"name":"a"}  '
    for (const announced of [100, whole.length - 2]) {
      const cut = await send(announced, whole)
      t.equal(cut.status, 400)
      t.match(await cut.json(), { error: 'invalid_request', field: 'body' })
    }
    t.equal(effects.length, 0, 'nothing was started')
    t.equal((await send(whole.length, whole)).status, 201, 'and the key is still free')
    t.equal(effects.length, 1)
  },
)

t.test(
  'reports an existing handler that returns no response, with the operation and what to return',
  async t => {
    for (const [given, kind] of [
      [undefined, 'nothing: a return is missing'],
      [{ body: 1 }, 'object'],
      ['done', 'string'],
    ] as const) {
      const { gate, routes, bearer, effects } = await createWorld()
      const { path, route } = routes.createCard
      const wrapped = fetchGate(gate, { body: 'clone', peer: () => '203.0.113.9' }).wrap(
        route,
        () => given as never,
      )
      const headers = {
        authorization: await bearer({ scopes: ['cards.write'] }),
        'idempotency-key': randomUUID(),
        'content-type': 'application/json',
      }
      const send = (): Promise<Response> =>
        wrapped(new Request(`http://host${path}`, { method: 'POST', headers, body: '{"name":"a"}' }))
      const message = `${route.operation}: the handler must return a Response, got ${kind}`
      await t.rejects(send(), { name: 'TypeError', message })
      t.match(await (await send()).json(), { error: 'outcome_unknown' })
      t.equal(effects.length, 0)
    }
  },
)
