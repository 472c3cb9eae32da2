import { readFileSync } from 'node:fs'

/** What each program returns: the statuses of a payment and of its repeat, and whether each was a replay. */
export const PAID_ONCE: readonly string[] = ['201 null', '201 true']

const OPTIONS = `{ issuer: 'https://auth.example', audience: 'https://api.example', policy: { dailySpendCapCents: 1000 } }`
const WRITE = `{ scope: 'payments.write', spends: (body: any) => ({ amountCents: body.amountCents, currency: 'USD' }) }`

const TOKEN = `
const kit = testGateway(${OPTIONS})
async function payment(): Promise<any> {
  const headers = {
    authorization: 'Bearer ' + (await kit.token(testSession({ scopes: ['payments.write'] }))),
    'content-type': 'application/json',
    'idempotency-key': 'the-same-key',
  }
  return { method: 'POST', headers, body: '{"amountCents":600}' }
}
const line = (response: any) => response.status + ' ' + response.headers.get('idempotency-replayed')`

const OVER_HTTP = `
async function payTwice(port: number): Promise<string[]> {
  const lines: string[] = []
  for (let n = 0; n < 2; n++) lines.push(line(await fetch('http://127.0.0.1:' + port + '/payments', await payment())))
  return lines
}`

/** Programs in TypeScript, whose function \`run\` pays twice under one key. Each also loads a store's entry. */
export const PROGRAMS: Readonly<Record<'express' | 'nest' | 'fetch' | 'next', string>> = {
  express: `
import express from 'express'
import { gatewright } from 'gatewright/express'
import { postgresStore } from 'gatewright/postgres'
import { testGateway, testSession } from 'gatewright/testing'
${TOKEN}
${OVER_HTTP}
export async function run(): Promise<string[]> {
  if (typeof postgresStore !== 'function') throw new Error('no store')
  const gw = gatewright(kit.options as any)
  const app = express()
  app.post('/payments', gw.write('payments.create', ${WRITE}, ({ effectId }) => ({ status: 201, body: { id: effectId } })) as any)
  const server = app.listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const lines = await payTwice((server.address() as any).port)
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
  return lines
}
`,
  nest: `
import 'reflect-metadata'
import { Controller, Module, Post } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { Accepted, GatewrightModule, Write } from 'gatewright/nest'
import { redisStore } from 'gatewright/redis'
import { testGateway, testSession } from 'gatewright/testing'
${TOKEN}
${OVER_HTTP}
@Controller('payments')
class Payments {
  @Post()
  @Write('payments.create', ${WRITE} as any)
  create(@Accepted() accepted: any) {
    return { id: accepted.effectId }
  }
}
@Module({ imports: [GatewrightModule.forRoot(kit.options as any)], controllers: [Payments] })
class App {}
export async function run(): Promise<string[]> {
  if (typeof redisStore !== 'function') throw new Error('no store')
  const app = await NestFactory.create(App, { logger: false, abortOnError: false })
  await app.listen(0, '127.0.0.1')
  const lines = await payTwice(app.getHttpServer().address().port)
  await app.close()
  return lines
}
`,
  fetch: `
import { nothingHappened } from 'gatewright'
import { gatewright } from 'gatewright/fetch'
import { testGateway, testSession } from 'gatewright/testing'
${TOKEN}
export async function run(): Promise<string[]> {
  if (typeof nothingHappened !== 'function') throw new Error('no function')
  const gw = gatewright({ ...kit.options, peer: 'none' } as any)
  const handler = gw.write('payments.create', ${WRITE}, ({ effectId }) => ({ status: 201, body: { id: effectId } }))
  const lines: string[] = []
  for (let n = 0; n < 2; n++) lines.push(line(await handler(new Request('https://api.example/payments', await payment()), undefined)))
  return lines
}
`,
  next: `
import { gatewright } from 'gatewright/next'
import { sqliteStore } from 'gatewright/sqlite'
import { testGateway, testSession } from 'gatewright/testing'
${TOKEN}
export async function run(): Promise<string[]> {
  if (typeof sqliteStore !== 'function') throw new Error('no store')
  const gw = gatewright({ ...kit.options, peer: 'none' } as any)
  const POST = gw.write('payments.create', ${WRITE}, ({ effectId }) => ({ status: 201, body: { id: effectId } }))
  const lines: string[] = []
  for (let n = 0; n < 2; n++)
    lines.push(line(await POST(new Request('https://api.example/payments', await payment()), { params: Promise.resolve({}) })))
  return lines
}
`,
}

/** What the programs import. */
const FRAMEWORKS = [
  'express@5',
  ...['common', 'core', 'platform-express', 'testing'].map(name => `@nestjs/${name}@11`),
  'reflect-metadata',
  'rxjs',
]

/** The packages of the project with jest 29, which could not be installed beside jest 30. */
export const JEST_29: readonly string[] = [
  ...FRAMEWORKS,
  'jest@29',
  'ts-jest@29',
  'typescript@5.9',
  '@types/express@5',
  '@types/jest@29',
  '@types/node@20',
]

/** The packages that the matrix installs, in versions that work on the oldest Node.js. */
export const PACKAGES: readonly string[] = [
  ...FRAMEWORKS,
  'jest@30',
  'ts-jest@29',
  'tsx@4',
  'ts-node@10',
  'typescript@5.9',
  'vitest@3',
  '@types/express@5',
  '@types/jest@30',
  '@types/node@20',
  '@swc/core@1',
  '@swc/jest@0.2',
  'webpack@5',
  `esbuild@${(JSON.parse(readFileSync('package.json', 'utf8')) as { devDependencies: { esbuild: string } }).devDependencies.esbuild}`,
]
