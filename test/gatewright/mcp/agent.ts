import { createServer } from 'node:http'
import { connect } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { Test } from 'tap'
import { listening, type World } from '../world.ts'
import { answerOf, callOf, createShop, type Answer, type Sent } from './shop.ts'

/** Serves tools on a port. */
async function served(serve: (request: Request) => Promise<Response>) {
  const listener = getRequestListener(request => serve(request))
  const server = createServer((request, response) => {
    // The SDK keeps the connection of a stream, also where the client asks to close it.
    if (request.headers.connection === 'close') response.once('finish', () => request.socket.end())
    void listener(request, response)
  })
  return listening(server.listen(0, '127.0.0.1'))
}

/** Where a connection is cut: after so many bytes of the request or of the response. */
interface Cut {
  readonly side: 'request' | 'response'
  readonly at: number
}

/** Makes the bytes of an HTTP request. */
async function bytesOf(request: Request): Promise<Buffer> {
  const body = Buffer.from(await request.arrayBuffer())
  const fields = [...request.headers].map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const head = `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-length: ${body.length}\r\n${fields}\r\n`
  return Buffer.concat([Buffer.from(head), body])
}

/** Sends a request whose connection is cut. Resolves with the bytes that were sent and received, when the connection is closed. */
async function sendCut(url: string, request: Request, { side, at }: Cut) {
  const bytes = await bytesOf(request)
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' })
  let received = 0
  await new Promise<void>(resolve => {
    socket.on('error', () => {})
    socket.once('close', () => resolve())
    socket.on('data', chunk => {
      received += chunk.length
      if (side === 'response' && received > at) socket.destroy()
    })
    socket.once('connect', () => {
      if (side === 'response') socket.write(bytes)
      else socket.write(bytes.subarray(0, at), () => socket.destroy())
    })
  })
  return { requestBytes: bytes.length, responseBytes: received }
}

/** Sends a request to a server. */
export async function sent(url: string, request: Request): Promise<Response> {
  return fetch(`${url}/mcp`, { method: 'POST', headers: request.headers, body: await request.text() })
}

/** How an agent calls a tool again. */
const REPEATS = ['with a new id', 'without a key', 'with a new key'] as const

/** The call of an intent, as an agent makes it the n-th time: always with another JSON-RPC id. */
export function nthCall(intent: string, nth: number, repeat: (typeof REPEATS)[number], sent: Sent): Request {
  const key = repeat === 'with a new key' ? `key-${nth}-of-${intent}` : `key-of-${intent}`
  const meta = repeat === 'without a key' && nth > 0 ? {} : { 'idempotency-key': key }
  return callOf('payments.create', { orderId: intent, amountCents: 1 }, { ...sent, id: nth + 1, meta })
}

/** Calls until the run that another call has begun has ended. */
export async function untilEnded(call: () => Promise<Response>): Promise<Answer> {
  for (;;) {
    const answer = await answerOf(await call())
    if (!answer.result?.content[0]?.text.includes('request_in_progress')) return answer
  }
}

/** How an agent repeats the calls of its n-th intent. */
const repeatOf = (index: number): (typeof REPEATS)[number] =>
  REPEATS[index % REPEATS.length] as (typeof REPEATS)[number]

/** Makes a shop without rate limits, whose stores may take long: on a busy machine, the last of hundreds of calls at once waits for all others. */
const unlimited = ({ options, ...world }: World): ReturnType<typeof createShop> =>
  createShop({
    world: {
      ...world,
      options: { ...options, limits: [], guard: { ...options.guard, storeTimeoutMs: 60_000 } },
    },
  })

interface Cuts {
  readonly world: World
  readonly era: 'modern' | 'legacy'
  /** The distance of two cuts, in bytes. */
  readonly every: number
}

/** Cuts the connection of a call of an own intent at each place, and calls again until it is answered. Checks that each intent has one effect. */
export async function checkCuts(t: Test, { world, era, every }: Cuts): Promise<void> {
  const token = await world.token('payments.write')
  const { url, close } = await served(unlimited(world).serve)
  const whole = await sendCut(url, nthCall('whole', 0, repeatOf(0), { token, era }), {
    side: 'response',
    at: Infinity,
  })
  const places = (bytes: number): number[] =>
    Array.from({ length: Math.ceil(bytes / every) }, (_, index) => index * every)
  const cuts: Cut[] = [
    ...places(whole.requestBytes).map(at => ({ side: 'request', at: at + 1 }) as const),
    { side: 'request', at: whole.requestBytes },
    ...places(whole.responseBytes).map(at => ({ side: 'response', at }) as const),
  ]
  let failed = 0
  for (const [index, cut] of cuts.entries()) {
    const intent = `intent-${index}`
    await sendCut(url, nthCall(intent, 0, repeatOf(index), { token, era }), cut)
    let nth = 0
    const call = (): Promise<Response> => sent(url, nthCall(intent, ++nth, repeatOf(index), { token, era }))
    const answer = await untilEnded(call)
    if (!answer.result || answer.result.isError) failed++
  }
  await close()
  t.equal(failed, 0, 'each intent was answered in the end')
  const effects = world.processor.calls.map(({ idempotencyKey }) => idempotencyKey)
  t.equal(effects.length, cuts.length + 1, `${cuts.length} cuts`)
  t.equal(new Set(effects).size, effects.length)
}

/** Makes calls of 1 USD at once, by 50 sessions of one account. Checks that as many run as its cap allows. */
export async function checkCap(t: Test, world: World, count: number): Promise<void> {
  const { serve } = unlimited(world)
  const tokens = await Promise.all(
    Array.from({ length: 50 }, (_, session) => world.token(`payments.write session.${session}`)),
  )
  const answers = await Promise.all(
    Array.from({ length: count }, (_, nth) =>
      untilEnded(() =>
        serve(
          callOf(
            'payments.create',
            { orderId: `order-${nth}`, amountCents: 100 },
            { token: tokens[nth % 50] as string },
          ),
        ),
      ),
    ),
  )
  const denied = answers.filter(({ result }) => result?.isError)
  t.equal(answers.length - denied.length, 100)
  t.equal(world.processor.calls.length, 100)
  t.ok(denied.every(({ result }) => result?.content[0]?.text.includes('"remaining":0')))
}

/** Makes 20 calls of one intent at once, in every way. Checks that it has one effect. */
export async function checkAtOnce(t: Test, world: World): Promise<void> {
  const { serve } = unlimited(world)
  const token = await world.token('payments.write')
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, nth) => {
      const era = nth % 2 === 0 ? 'modern' : 'legacy'
      return untilEnded(() => serve(nthCall('the-intent', nth, repeatOf(nth), { token, era })))
    }),
  )
  t.equal(new Set(answers.map(({ result }) => result?.content[0]?.text)).size, 1)
  t.equal(world.processor.calls.length, 1)
}
