// `serve`: a guarded server that takes the client address from a header. `flood`: a client that sends it junk at a rate.
import { Agent, createServer, request } from 'node:http'
import { createGuard, localKeys } from '@gatewright/scope-guard'
import type { JWK } from 'jose'
import { serve } from '../serve.ts'
import { BENCH_AUDIENCE, BENCH_ISSUER } from '../tokens.ts'

const [kind, text] = process.argv.slice(2) as [string, string]

/** What `flood` gets: where to send what, how often a second and for how long. */
export interface Flood {
  readonly port: number
  readonly address: string
  /** Junk number n is the head of one of these with the signature of another. */
  readonly tokens: readonly string[]
  /** `cheap`: the key id is unknown. `forged`: only a signature check distinguishes it from a good token. */
  readonly junk: 'cheap' | 'forged'
  readonly perSecond: number
  readonly seconds: number
}

function serveGuarded(jwk: JWK): void {
  const guard = createGuard({
    issuer: BENCH_ISSUER,
    audience: BENCH_AUDIENCE,
    keys: localKeys({ keys: [jwk] }),
    limits: [],
  })
  const rule = { operation: 'cards.list', allOf: ['cards.read'] }
  serve(
    createServer((asked, response) => {
      const facts = {
        authorization: asked.headers.authorization,
        address: asked.headers['x-address'] as string,
      }
      void Promise.resolve(guard.check(facts, rule)).then(verdict => {
        response.writeHead(verdict.ok ? 200 : verdict.status).end()
      })
    }),
  )
}

function junkOf({ tokens, junk }: Flood): (n: number) => string {
  const [head] = (tokens[0] as string).split('.')
  const unknown = Buffer.from(JSON.stringify({ alg: 'EdDSA', typ: 'at+jwt', kid: 'unknown' })).toString(
    'base64url',
  )
  const payloads = tokens.map(token => token.split('.')[1])
  const signatures = tokens.map(token => token.split('.')[2])
  const { length } = tokens
  return n => {
    const other = (n + 1 + (Math.floor(n / length) % (length - 1))) % length
    return `${junk === 'cheap' ? unknown : head}.${payloads[n % length]}.${signatures[other]}`
  }
}

/** Sends junk in bursts of 10 ms, without waiting for responses, and reports their statuses. */
function flood(given: Flood): void {
  const { port, address, perSecond, seconds } = given
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  const make = junkOf(given)
  const responses: Record<string, number> = {}
  const count = (status: number | string): void => {
    responses[status] = (responses[status] ?? 0) + 1
  }
  let sent = 0
  const send = (): void => {
    const headers = { authorization: `Bearer ${make(sent++)}`, 'x-address': address }
    const asked = request({ port, host: '127.0.0.1', agent, headers }, reply => {
      count(reply.statusCode as number)
      reply.resume()
    })
    asked.once('error', () => count('error')).end()
  }
  const started = performance.now()
  const timer = setInterval(() => {
    const due = Math.min(seconds, (performance.now() - started) / 1000) * perSecond
    for (let missing = Math.floor(due) - sent; missing > 0; missing--) send()
    if (sent >= Math.floor(seconds * perSecond)) clearInterval(timer)
  }, 10)
  process.once('disconnect', () => process.exit())
  process.on('message', () => void process.send?.(responses))
  process.send?.('started')
}

if (kind === 'serve') serveGuarded(JSON.parse(text) as JWK)
else process.once('message', (settings: Flood) => flood(settings))
