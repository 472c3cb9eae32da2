import t from 'tap'
import { compile } from '../harness/compile.ts'

const PRELUDE = `
import express from 'express'
import { gatewright, memoryStore } from 'gatewright/express'
import { z } from 'zod'
const options = { issuer: 'https://issuer.test', audience: 'https://api.test', store: memoryStore() }
const gw = gatewright({ ...options, scopes: ['payments.read', 'payments.write'] })
const body = z.object({ amountCents: z.number() })
`

/** Mistakes that a compiler must find, each with one error, what it must say, and the text that it must point at. */
const mistakes: Readonly<Record<string, readonly [code: string, message: RegExp, at: string]>> = {
  'a misspelt scope': [
    `gw.read('payments.list', { scope: 'payments.raed' }, () => ({ status: 200 }))`,
    /"payments\.raed"' is not assignable to type .*Did you mean '"payments\.read"'\?/,
    `scope: 'payments.raed'`,
  ],
  'a misspelt scope in a list': [
    `gw.read('payments.list', { anyOf: ['payments.raed'] }, () => ({ status: 200 }))`,
    /"payments\.raed"' is not assignable to type .*Did you mean '"payments\.read"'\?/,
    `'payments.raed'`,
  ],
  'a misspelt option': [
    `gatewright({ ...options, provder: 'auth0' })`,
    /'provder' does not exist .*Did you mean to write 'provider'\?/,
    'provder',
  ],
  'a misspelt provider': [
    `gatewright({ ...options, provider: 'auht0' })`,
    /'"auht0"' is not assignable to type .*Did you mean '"auth0"'\?/,
    'provider:',
  ],
  'a misspelt member of a policy': [
    `gatewright({ ...options, policy: { dailySpendCapCent: 1 } })`,
    /'dailySpendCapCent' does not exist in type 'Policy'.*Did you mean to write 'dailySpendCapCents'\?/,
    'dailySpendCapCent:',
  ],
  'a misspelt option of an operation': [
    `gw.write('payments.create', { scope: 'payments.write', spend: 'spend' }, () => ({ status: 200 }))`,
    /'spend' does not exist .*Did you mean to write 'spends'\?/,
    'spend:',
  ],
  'a misspelt member of the body': [
    `gw.write('payments.create', { scope: 'payments.write', body }, ({ body }) => ({ status: 200, body: body.amount }))`,
    /Property 'amount' does not exist/,
    'amount }',
  ],
  'an amount of the wrong type': [
    `gw.write('payments.create', { scope: [], body, spends: body => ({ amountCents: String(body.amountCents), currency: 'USD' }) }, () => ({ status: 200 }))`,
    /Type 'string' is not assignable to type 'number'/,
    'spends:',
  ],
  'a handler that returns nothing': [
    `gw.read('payments.list', { scope: [] }, () => {})`,
    /Type 'void' is not assignable/,
    '() =>',
  ],
  'a misspelt option of a part': [
    `gatewright({ ...options, guard: { cacheSecond: 1 } })`,
    /'cacheSecond' does not exist .*Did you mean to write 'cacheSeconds'\?/,
    'cacheSecond',
  ],
}

const RIGHT = `${PRELUDE}
const app = express()
app.post('/payments', gw.write('payments.create', {
  scope: 'payments.write',
  body,
  spends: body => ({ amountCents: body.amountCents, currency: 'USD' }),
}, async ({ body, session, effectId, query, params }) => {
  const texts: string[] = [session.accountId, effectId, ...Object.values(params)]
  const nothing: undefined = query
  return { status: 201, body: { texts, nothing, cents: body.amountCents satisfies number } }
}))
app.post('/notes', gw.write('notes.create', { scope: [] }, ({ body }) => ({ status: 201, body: body['note'] satisfies unknown })))
// Without scopes, any scope.
gatewright(options).read('payments.list', { anyOf: ['anything'] }, ({ session }) => ({ status: 200, body: session.scopes }))
`

t.test('correct code compiles', async t => {
  t.equal(await compile('gatewright-types', { 'right.ts': RIGHT }), '')
})

/** What servers export of their parts. A compiler writes its types into the declaration file only if the package exports their names. */
const EXPORTED = (framework: string, options = ''): string => `
import { gatewright, memoryStore } from 'gatewright/${framework}'
import { z } from 'zod'
export const store = memoryStore()
export const gw = gatewright({ issuer: 'https://issuer.test', audience: 'https://api.test', store, ${options} })
const body = z.object({ amountCents: z.number() })
export const pay = gw.write('payments.create', { scope: [], body }, async ({ body }) => ({ status: 201, body }))
export const list = gw.read('payments.list', { scope: [] }, async ({ params }) => ({ status: 200, body: params }))
export const open = gw.open('plans.list', {}, () => ({ status: 200 }))
export const { session, http, guard, gate, idempotency, once } = gw
`

const PROTECTING = `
export const protectWrite = gw.protectWrite('cards.create', { scope: [], body })
export const protectRead = gw.protectRead('cards.list', { scope: [] })
`

t.test('what a server exports can be declared, without annotations', async t => {
  const output = await compile('gatewright-declarations', {
    'express.ts': EXPORTED('express') + PROTECTING,
    'node.ts': EXPORTED('node') + PROTECTING,
    'koa.ts': EXPORTED('koa') + PROTECTING,
    'fastify.ts': EXPORTED('fastify') + PROTECTING,
    'hono.ts': EXPORTED('hono', "peer: 'none'") + PROTECTING,
    'next.ts': EXPORTED('next', "peer: 'none'"),
    'fetch.ts': EXPORTED('fetch', "peer: 'none'"),
    'stores.ts': `
import { redisStore } from 'gatewright/redis'
import { postgresStore } from 'gatewright/postgres'
import { sqliteStore } from 'gatewright/sqlite'
import { manualClock, testGateway, testProcessor, testSession } from 'gatewright/testing'
export const redis = redisStore({ sendCommand: async () => null })
export const postgres = (pool: never) => postgresStore(pool)
export const sqlite = (database: never) => sqliteStore(database)
export const session = testSession({ scopes: ['payments.write'] })
export const gateway = () => testGateway({} as never)
export const [clock, processor] = [manualClock(), testProcessor()]
`,
  })
  t.equal(output, '')
})

t.test('each mistake is one error, at its place, that says the right name', async t => {
  const names = Object.keys(mistakes)
  const files = Object.fromEntries(
    Object.values(mistakes).map(([code], index) => [`mistake_${index}.ts`, PRELUDE + code]),
  )
  const output = await compile('gatewright-mistakes', files)
  for (const [index, name] of names.entries()) {
    const [code, message, at] = mistakes[name] as (typeof mistakes)[string]
    const errors = output.split(/\n(?=\S)/).filter(line => line.includes(`mistake_${index}.ts(`))
    t.equal(errors.length, 1, `${name}: ${errors.join(' | ')}`)
    const [, column = '0'] = /\(\d+,(\d+)\)/.exec(errors[0] ?? '') ?? []
    t.match(errors[0]?.replaceAll(/\s+/g, ' '), message, name)
    t.equal(code.slice(Number(column) - 1).startsWith(at), true, `${name}: column ${column} of ${code}`)
  }
})
