// The package gatewright beside what teams install today for tokens and rate limits on Express: how long a process takes until it
// has sent its first response, and the CPU of a read.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { median } from './arithmetic.ts'
import { extent, reportMissed } from './extent.ts'
import { compareServers } from './http.ts'
import { columns } from './report.ts'
import { BENCH_AUDIENCE, BENCH_ISSUER, benchTokens } from './tokens.ts'

const ROUNDS = extent(15, 1)
/** How much later than its peers our server may send its first response, in ms. */
const COLD_MS = 100

const { tokens, jwk } = await benchTokens(500, { policyIds: [] })
const [token = ''] = tokens

/** Serves the keys of the identity provider, which every side but the bare one fetches before its first response. */
const provider = createServer((_request, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ keys: [jwk] }))
})
await new Promise<void>(resolve => provider.listen(0, '127.0.0.1', resolve))
const keys = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/jwks`

/** A program that sends itself one request and prints when the response had arrived, since its process started. */
const program = (imports: string, mount: string): string => `
import express from 'express'
import { get } from 'node:http'
import { z } from 'zod'
${imports}
const [issuer, audience, keys, authorization] = ${JSON.stringify([BENCH_ISSUER, BENCH_AUDIENCE, keys, `Bearer ${token}`])}
const app = express()
export const schema = z.object({ limit: z.number() })
${mount}
const server = app.listen(0, '127.0.0.1', () => {
  get({ port: server.address().port, path: '/cards', headers: { authorization } }, response => {
    if (response.statusCode !== 200) throw new Error('responded with ' + response.statusCode)
    const { user, system } = process.cpuUsage()
    console.log(JSON.stringify([performance.now(), (user + system) / 1000]))
    process.exit()
  })
})`
const OURS = 'gatewright'
const PEERS = 'express-oauth2-jwt-bearer, express-rate-limit'
const PROGRAMS: Readonly<Record<string, string>> = {
  'express, zod': program('', "app.get('/cards', (_, response) => response.json({ ok: true }))"),
  [OURS]: program(
    "import { gatewright, memoryStore } from 'gatewright/express'\nimport { remoteKeys } from '@gatewright/scope-guard'",
    `const gw = gatewright({ issuer, audience, store: memoryStore(), guard: { keys: remoteKeys(new URL(keys)) } })
app.get('/cards', gw.read('cards.list', { scope: 'cards.read' }, () => ({ status: 200, body: { ok: true } })))`,
  ),
  [PEERS]: program(
    "import { auth, requiredScopes } from 'express-oauth2-jwt-bearer'\nimport { rateLimit } from 'express-rate-limit'",
    `const check = auth({ issuer, audience, jwksUri: keys, tokenSigningAlg: 'ES256' })
const limit = rateLimit({ limit: 600, windowMs: 60_000, keyGenerator: request => request.auth.payload.sub })
app.get('/cards', check, requiredScopes('cards.read'), limit, (_, response) => response.json({ ok: true }))`,
  ),
}

/** Runs a program in a new process: ms until its first response, and CPU until then. */
async function coldStart(text: string): Promise<readonly [wallMs: number, cpuMs: number]> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', text], {
    cwd: 'test/tools',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output, [code]] = await Promise.all([child.stdout.toArray(), once(child, 'exit')])
  if (code !== 0) throw new Error(`a program ended with ${String(code)}`)
  return JSON.parse(output.join('')) as [number, number]
}

const samples = new Map<string, (readonly [number, number])[]>()
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, text] of Object.entries(PROGRAMS))
    samples.set(name, [...(samples.get(name) ?? []), await coldStart(text)])
}
provider.close()

const medians = new Map(
  [...samples].map(([name, values]) => [
    name,
    [0, 1].map(column => median(values.map(each => each[column] ?? 0))),
  ]),
)
const rows = [...samples].map(([name, values]) => {
  const walls = values.map(([wall]) => wall)
  const [wall = 0, cpu = 0] = medians.get(name) ?? []
  return [
    name,
    wall.toFixed(0),
    `${Math.min(...walls).toFixed(0)} .. ${Math.max(...walls).toFixed(0)}`,
    cpu.toFixed(0),
  ]
})
console.log(`gatewright: ms from the start of a process to its first response, median of ${ROUNDS} processes`)
console.log(columns([['', 'wall ms', 'low .. high', 'CPU ms'], ...rows], [0]).join('\n'))
const above = (medians.get(OURS)?.[0] ?? 0) - (medians.get(PEERS)?.[0] ?? 0)
if (above > COLD_MS)
  reportMissed(`first response ${above.toFixed(0)} ms later than the peers, at most ${COLD_MS} wanted`)
console.log()

const module = new URL('./servers/gatewright.child.js', import.meta.url)
const side = (name: string, kind: string) => ({
  name,
  module,
  args: [kind, JSON.stringify(jwk)],
  request: (index: number) => ({
    path: '/cards',
    headers: { authorization: `Bearer ${tokens[index % tokens.length]}` },
  }),
  period: tokens.length,
})
await compareServers('gatewright: a read with token, scope and rate limit on Express', {
  ours: side(OURS, 'gatewright'),
  peers: [{ ...side(PEERS, 'peers'), minRatio: 1 }],
  requests: 6000,
})
