// How long good tokens wait while their own address floods the server with junk: quiet, junk that is denied without a
// signature check, and forged tokens. Then how long neighbours wait while wallets with the heaviest documents that a host accepts
// send as much as their rate limits allow. BENCH_SECONDS (default 10) per part, BENCH_JUNK (default 2000) per second, BENCH_CALLERS
// (default 20) of those wallets.
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { toClaims } from '@gatewright/kernel'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { startChild } from '../harness/child.ts'
import { extent } from './extent.ts'
import { compareHeavyCallers } from './heavy-callers.ts'
import type { Flood } from './servers/flooded.child.ts'
import { BENCH_AUDIENCE, BENCH_ISSUER, benchSession } from './tokens.ts'

const seconds = Number(process.env['BENCH_SECONDS'] ?? extent(10, 1))
const perSecond = Number(process.env['BENCH_JUNK'] ?? extent(2000, 200))
const callers = Number(process.env['BENCH_CALLERS'] ?? extent(20, 2))
/** Good tokens of each kind a second. */
const GOOD_PER_SECOND = 50
const address = '192.0.2.1'
const module = new URL('./servers/flooded.child.js', import.meta.url)

const { publicKey, privateKey } = await generateKeyPair('EdDSA', { extractable: true })
const jwk = { ...(await exportJWK(publicKey)), kid: 'bench', alg: 'EdDSA' }
const sign = (index: number): Promise<string> =>
  new SignJWT({ ...toClaims(benchSession(index, [])), iss: BENCH_ISSUER, aud: BENCH_AUDIENCE })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: 'bench' })
    .sign(privateKey)
let next = 0
const fresh = (count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => sign(next++)))
const forgeable = await fresh(300)

interface TimedResponse {
  readonly status: number
  readonly ms: number
}

/** Sends tokens one after another at a rate, without waiting for responses; the time counts from when each was due. */
async function poll(port: number, tokens: readonly string[]): Promise<TimedResponse[]> {
  const agent = new Agent({ keepAlive: true })
  const started = performance.now()
  const all: Promise<TimedResponse>[] = []
  for (const [index, token] of tokens.entries()) {
    const due = started + (index * 1000) / GOOD_PER_SECOND
    while (performance.now() < due) await new Promise(resolve => setTimeout(resolve, due - performance.now()))
    const headers = { authorization: `Bearer ${token}`, 'x-address': address }
    all.push(
      new Promise((resolve, reject) => {
        request({ port, host: '127.0.0.1', agent, headers }, response => {
          response.resume()
          resolve({ status: response.statusCode as number, ms: performance.now() - due })
        })
          .once('error', reject)
          .end()
      }),
    )
  }
  const responded = await Promise.all(all)
  agent.destroy()
  return responded
}

function summary(name: string, responses: readonly TimedResponse[]) {
  const passed = responses.filter(({ status }) => status === 200)
  const times = passed.map(({ ms }) => ms).sort((a, b) => a - b)
  const at = (share: number): string =>
    times.length === 0 ? '-' : (times[Math.ceil(times.length * share) - 1] as number).toFixed(2)
  return {
    name,
    sent: responses.length,
    denied: responses.length - passed.length,
    p50: at(0.5),
    p99: at(0.99),
  }
}

/** Throws where something got another status: an error is fast, and its time says nothing about a guard. */
function insistOn(expected: readonly number[], what: string, statuses: readonly number[]): void {
  const other = statuses.find(status => !expected.includes(status))
  if (other !== undefined) throw new Error(`${what} returned ${other}`)
}

async function part(title: string, junk: Flood['junk'] | undefined): Promise<object> {
  const server = startChild(module, ['serve', JSON.stringify(jwk)])
  const flooder = startChild(module, ['flood', ''])
  try {
    const [{ port }] = (await once(server, 'message')) as [{ port: number }]
    const count = GOOD_PER_SECOND * seconds
    const [known] = (await fresh(1)) as [string]
    await poll(port, [known, ...(await fresh(20)), known])
    const unknown = await fresh(count)
    if (junk) {
      flooder.send({
        port,
        address,
        tokens: forgeable,
        junk,
        perSecond,
        seconds: seconds + 1,
      } satisfies Flood)
      await once(flooder, 'message')
      // The budget of the address is used up when the clock starts.
      await new Promise(resolve => setTimeout(resolve, 500))
    }
    const cpu = async (): Promise<number> => {
      const message = once(server, 'message')
      server.send({})
      const [{ user, system }] = (await message) as [NodeJS.CpuUsage]
      return user + system
    }
    const before = await cpu()
    const [knownResponses, unknownResponses] = await Promise.all([
      poll(port, Array<string>(count).fill(known)),
      poll(port, unknown),
    ])
    const busy = ((await cpu()) - before) / (seconds * 1e6)
    const message = once(flooder, 'message')
    if (junk) flooder.send({})
    const result = {
      title,
      good: [summary('known', knownResponses), summary('unknown', unknownResponses)],
      junk: junk ? ((await message) as [object])[0] : {},
      serverCpu: `${(busy * 100).toFixed(0)} % of a core`,
    }
    insistOn(
      [200, 429],
      'good tokens',
      [...knownResponses, ...unknownResponses].map(({ status }) => status),
    )
    insistOn([401, 429], 'junk', Object.keys(result.junk).map(Number))
    console.log(`${title}: server ${result.serverCpu}, junk returned ${JSON.stringify(result.junk)}`)
    for (const { name, sent, denied, p50, p99 } of result.good) {
      console.log(`  ${name.padEnd(8)} p50 ${p50} ms, p99 ${p99} ms, ${denied} of ${sent} denied`)
    }
    return result
  } finally {
    for (const child of [server, flooder]) if (child.connected) child.disconnect()
  }
}

const results: object[] = [
  await part('quiet', undefined),
  await part(`${perSecond} cheap junk tokens per second`, 'cheap'),
  await part(`${perSecond} forged tokens per second`, 'forged'),
]
for (const stores of ['embedded', 'postgres'] as const)
  results.push(await compareHeavyCallers({ stores, callers, seconds }))
mkdirSync(join('build', 'bench'), { recursive: true })
writeFileSync(join('build', 'bench', 'flood.json'), `${JSON.stringify(results, null, 2)}\n`)
