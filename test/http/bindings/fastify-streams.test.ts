// A stream cannot be stored: Fastify's idempotent routes refuse it, and end it.
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { scopeCatalogue } from '@gatewright/kernel'
import { gate } from '@gatewright/http'
import { fastifyGate } from '@gatewright/http/fastify'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import fastify from 'fastify'
import t from 'tap'
import { bench } from '../../scope-guard/issuer.ts'

async function responding(make: () => unknown): Promise<number> {
  const { guard, bearer } = await bench()
  const idempotency = createIdempotency({ storage: memoryIdempotency() })
  const api = gate({ guard, idempotency, scopes: scopeCatalogue(['cards.write']), report: () => {} })
  const gw = fastifyGate(api, { body: 'kept' })
  const app = fastify()
  await app.register(gw.plugin)
  const route = api.idempotent({ operation: 'cards.create', allOf: ['cards.write'] })
  app.post('/cards', { ...gw.hooks(route), handler: async (_request, reply) => reply.send(make()) })
  const authorization = await bearer({ scopes: ['cards.write'] })
  const headers = { authorization, 'idempotency-key': 'key-of-a-card', 'content-type': 'application/json' }
  const { statusCode } = await app.inject({ method: 'POST', url: '/cards', headers, body: '{}' })
  await app.close()
  return statusCode
}

t.test('a stream that fails after it was refused does not end the process', async t => {
  let closed: Promise<unknown> | undefined
  const missing = (): Readable => {
    const stream = createReadStream('no-such-file')
    closed = new Promise(resolve => stream.once('close', () => resolve('closed')))
    return stream
  }
  t.equal(await responding(missing), 500)
  t.equal(await closed, 'closed')
})

t.test('streams that are refused are ended', async t => {
  const source = Readable.from(['a', 'b'])
  t.equal(await responding(() => source), 500)
  t.ok(source.destroyed)
  let canceled = 0
  const web = (): ReadableStream =>
    new ReadableStream({
      cancel() {
        canceled++
        throw new Error('cannot be canceled')
      },
    })
  t.equal(await responding(web), 500)
  t.equal(await responding(() => new Response(web())), 500)
  await new Promise(resolve => setImmediate(resolve))
  t.equal(canceled, 2)
})
