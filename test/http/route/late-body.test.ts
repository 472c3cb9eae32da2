// A client decides when the last byte of its body arrives. What ended meanwhile must not be usable.
import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gate } from '@gatewright/http'
import { expressGate } from '@gatewright/http/express'
import { fastifyGate } from '@gatewright/http/fastify'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { scopeCatalogue } from '@gatewright/kernel'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { bench } from '../../scope-guard/issuer.ts'

async function ground(t: Test) {
  let isLive = true
  let queries = 0
  let elapsed = 0
  const monotonic = performance.now.bind(performance)
  performance.now = () => monotonic() + elapsed
  t.teardown(() => Reflect.deleteProperty(performance, 'now'))
  const { guard, bearer } = await bench({
    revocation: {
      mode: 'strict',
      isLive: async () => {
        queries++
        return isLive
      },
    },
  })
  let reportAuthorized = (): void => undefined
  const authorized = new Promise<void>(resolve => (reportAuthorized = resolve))
  const api = gate({
    guard,
    scopes: scopeCatalogue(['cards.write']),
    idempotency: createIdempotency({ storage: memoryIdempotency() }),
  })
  const admit = async () => {
    reportAuthorized()
    return { ok: true, value: [] } as const
  }
  const route = api.idempotent({ operation: 'cards.create', allOf: ['cards.write'] }, { admit })
  return {
    api,
    route,
    authorized,
    authorization: await bearer(),
    queries: () => queries,
    revoke: () => void (isLive = false),
    pass: (ms: number) => void (elapsed += ms),
  }
}

/** Sends a request without the last byte of its body, and returns the function that sends it. */
function begin(port: number, authorization: string): () => Promise<number | undefined> {
  const client = httpRequest({
    port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/',
    headers: {
      authorization,
      'idempotency-key': 'key-12345',
      'content-type': 'application/json',
      'content-length': 2,
    },
  })
  const response = once(client, 'response')
  client.write('{')
  return async () => {
    client.end('}')
    const [{ statusCode }] = (await response) as [IncomingMessage]
    client.destroy()
    return statusCode
  }
}

type Ground = Awaited<ReturnType<typeof ground>>
const runs: string[] = []

async function onNode(t: Test, { api, route }: Ground): Promise<number> {
  const handle = expressGate(api, { body: 'stream' }).handle(route, () => {
    runs.push('node')
    return { status: 201 }
  })
  const server = createServer((request, response) => handle(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

async function onFastify(t: Test, { api, route }: Ground): Promise<number> {
  const bind = fastifyGate(api, { body: 'kept' })
  const app = fastify()
  await app.register(bind.plugin)
  app.route({
    method: 'POST',
    url: '/',
    ...bind.handle(route, () => {
      runs.push('fastify')
      return { status: 201 }
    }),
  })
  t.teardown(() => app.close())
  await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
}

for (const [name, serve] of Object.entries({ onNode, onFastify })) {
  t.test(`a session that is revoked before the last byte of a body runs no handler (${name})`, async t => {
    const made = await ground(t)
    const end = begin(await serve(t, made), made.authorization)
    await made.authorized
    made.revoke()
    made.pass(100)
    runs.length = 0
    t.equal(await end(), 401)
    t.same(runs, [])
  })

  t.test(
    `${name}: a session that is still valid at the last byte of a late body runs its handler`,
    async t => {
      const made = await ground(t)
      const end = begin(await serve(t, made), made.authorization)
      await made.authorized
      made.pass(60_000)
      t.equal(await end(), 201)
      t.equal(made.queries(), 2)
    },
  )
}
