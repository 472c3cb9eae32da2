import { gate } from '@gatewright/http'
import { expressGate } from '@gatewright/http/express'
import { fastifyGate } from '@gatewright/http/fastify'
import { fetchGate } from '@gatewright/http/fetch'
import { koaGate } from '@gatewright/http/koa'
import t from 'tap'
import { bench } from '../../scope-guard/issuer.ts'

function caught(call: () => unknown): Error {
  try {
    call()
  } catch (error) {
    if (error instanceof TypeError) return error
  }
  throw new Error('no TypeError')
}

t.test('refuses a binding without the option body', async t => {
  const api = gate()
  for (const bind of [expressGate, koaGate, fastifyGate, fetchGate]) {
    for (const options of [{}, { body: undefined }, { body: 'raw' }, { body: true }]) {
      t.throws(() => bind(api, options as never), /Gate: body must be ".*" or ".*", not /)
    }
  }
})

t.test('refuses a fetch binding without the option peer', async t => {
  for (const peer of [undefined, null, 'x', 'None', true]) {
    const { message } = caught(() => fetchGate(gate(), { body: 'stream', peer: peer as never }))
    t.match(message, /^fetchGate: peer must be a function that returns the client's address, or 'none', got /)
    for (const server of ['Hono', 'Deno', 'Bun', 'Next.js', "peer: 'none'"]) t.match(message, server)
  }
  t.doesNotThrow(() => fetchGate(gate(), { body: 'stream', peer: 'none' }))
  t.throws(
    () => fetchGate(gate({ trustProxy: ['10.0.0.0/8'] }), { body: 'stream', peer: 'none' }),
    /peer must be a function with trustProxy/,
  )
  const waitUntil = 'ctx' as never
  t.throws(() => fetchGate(gate(), { body: 'stream', peer: 'none', waitUntil }), {
    message: 'fetchGate: waitUntil must be a function, not string',
  })
})

/** Objects that have a part of a gate. */
const PARTS = [
  { settings: {} },
  { settings: {}, enter: () => {} },
  { settings: {}, adopt: () => {} },
  { enter: () => {}, adopt: () => {} },
  { adopt: () => {} },
]

t.test('refuses an invalid gate, route or handler when it is mounted', async t => {
  const api = gate()
  const { guard } = await bench()
  for (const bind of [expressGate, koaGate, fastifyGate, fetchGate]) {
    for (const thing of [undefined, null, guard, api.open('plans.list'), gate, {}, ...PARTS]) {
      const { message } = caught(() => bind(thing as never, { body: 'kept', peer: 'none' } as never))
      t.match(message, `${bind.name}: the first argument must be a gate made by gate({ ... }), got `)
    }
    t.throws(() => bind(api, undefined as never), {
      message: `${bind.name}: options must be an object, not undefined`,
    })
  }
  const bound = [
    expressGate(api, { body: 'stream' }),
    koaGate(api, { body: 'stream' }),
    fastifyGate(api, { body: 'kept' }),
    fetchGate(api, { body: 'stream', peer: 'none' }),
  ] as unknown as Record<string, (...given: unknown[]) => unknown>[]
  for (const binding of bound) {
    for (const mount of ['handle', 'guard', 'hooks', 'wrap'].filter(name => name in binding)) {
      t.throws(
        () => binding[mount]?.('plans.list', () => undefined),
        /a route must be made by open, guarded, guardedBy, idempotent or transactional/,
      )
    }
    t.throws(
      () => binding['handle']?.(api.open('plans.list')),
      /plans\.list: the handler must be a function, got undefined/,
    )
  }
})
