import { gatewright, memoryStore } from 'gatewright/express'
import { gatewright as onHono } from 'gatewright/hono'
import { gatewright as onNext } from 'gatewright/next'
import { postgresStore } from 'gatewright/postgres'
import { redisStore } from 'gatewright/redis'
import { sqliteStore } from 'gatewright/sqlite'
import t from 'tap'
import { z } from 'zod'

const options = { issuer: 'https://issuer.test', audience: 'https://api.test', store: memoryStore() }
const handler = (): { status: number } => ({ status: 200 })
const amount = (): { amountCents: number; currency: string } => ({ amountCents: 1, currency: 'USD' })

/** Makes a server with other options, as JavaScript may call it. */
const made =
  (changes: object): (() => unknown) =>
  () =>
    gatewright({ ...options, ...changes })

t.test('refuses wrong options, and says what to write', async t => {
  t.throws(made({ issuer: '' }), /gatewright: issuer must be a non-empty string/)
  t.throws(made({ audience: undefined }), /gatewright: audience must be a non-empty string/)
  t.throws(
    made({ store: undefined }),
    /store must be memoryStore\(\), redisStore\(client\), .* got undefined/,
  )
  t.throws(made({ store: {} }), /store must be memoryStore\(\)/)
  t.throws(made({ provider: 'auth1' }), /^gatewright: provider must be "rfc9068", "auth0"/)
  t.throws(made({ provider: '' }), /gatewright: provider must be "rfc9068"/)
  t.throws(made({ provider: null }), /gatewright: provider must be "rfc9068"/)
  t.throws(made({ polcy: {} }), /unknown option "polcy", did you mean policy\?/)
  t.throws(made({ body: 'parse' }), /body must be "stream", "kept" or "parsed"/)
  t.throws(made({ guard: { cacheSecond: 1 } }), /unknown option "cacheSecond", did you mean cacheSeconds\?/)
  t.throws(made({ idempotency: { leaseMS: 1 } }), /unknown option "leaseMS", did you mean leaseMs\?/)
  t.throws(made({ gate: { trustproxy: [] } }), /unknown option "trustproxy", did you mean trustProxy\?/)
  t.throws(() => onHono({ ...options } as never), /peer must be a function that returns the client's address/)
})

t.test('refuses options that the composition sets itself', async t => {
  t.throws(
    made({ guard: { issuer: 'https://other.test' } }),
    /guard: write issuer beside guard, not issuer in it/,
  )
  t.throws(made({ guard: { spend: {} } }), /guard: write store beside guard, not spend in it/)
  t.throws(made({ idempotency: { storage: {} } }), /idempotency: write store beside idempotency/)
  t.throws(made({ gate: { scopes: {} } }), /gate: write scopes beside gate/)
})

t.test('refuses policies that are not, or that are given twice', async t => {
  t.throws(made({ policy: {}, policies: () => [] }), /give policy .* or policies .* not both/)
  t.throws(
    made({ policy: { dailySpendCap: 1 } }),
    /gatewright: policy: .*dailySpendCap.*did you mean dailySpendCapCents/,
  )
  t.throws(made({ policy: { dailySpendCapCents: -1 } }), /gatewright: policy: /)
  t.throws(
    made({ policy: {} }),
    /gatewright: policy has no member, so it would limit nothing: .*dailySpendCapCents/,
  )
  t.throws(made({ policies: [] }), /policies must be a function/)
})

t.test('refuses operations that say too little or too much', async t => {
  const gw = gatewright({ ...options, scopes: ['payments.write'] })
  const write =
    (given: object, operation = 'payments.create') =>
    () =>
      gw.write(operation, given, handler)
  t.throws(write({}), /payments\.create: name the scope .* scope: \[\] says that any session may call/)
  t.throws(
    write({ scope: 'payments.wirte' }),
    /the scope payments\.wirte is not a known scope; did you mean payments\.write\?/,
  )
  t.throws(write({ scope: [], scpoe: 'a' }), /unknown option "scpoe", did you mean scope\?/)
  t.throws(write({ scope: [], spends: 'money' }), /spends must be/)
  t.throws(write({ scope: [], spends: amount, withdraws: amount }), /give spends or withdraws, not both/)
  t.throws(write({ scope: [], body: {} }, 'payments.body'), /body must be a Standard Schema/)
  write({ scope: [] }, 'payments.twice')()
  t.throws(write({ scope: [], spends: 'spend' }, 'payments.twice'), /payments\.twice is declared twice/)
  t.throws(() => gw.write('payments', { scope: [] }, handler), /must be "tag\.verb"/)
  t.throws(() => gw.read('payments.read', {}, handler), /name the scope/)
  t.throws(
    () => gw.write('payments.handle', { scope: [] }, undefined as never),
    /payments\.handle: the handler must be a function, got undefined/,
  )
})

t.test('refuses an operation that spends, if the store counts nothing', async t => {
  const { spends: _, ...store } = memoryStore()
  const gw = gatewright({ ...options, store })
  const given = { scope: [], spends: amount, body: z.object({}) }
  t.throws(
    () => gw.write('payments.create', given, handler),
    /payments\.create: an operation that spends needs a store with spends/,
  )
  t.doesNotThrow(() => gw.write('notes.create', { scope: [] }, handler))
})

t.test('refuses clients of another kind', async t => {
  t.throws(() => redisStore({} as never), /client must be a client of node-redis or ioredis, got object/)
  t.throws(() => redisStore(undefined as never), /got undefined/)
  t.throws(() => postgresStore({} as never), /pool must be a Pool of pg, got object/)
  t.throws(() => postgresStore({ connect() {} } as never, { prefix: 'GW-' }), /table prefix must be/)
  t.throws(() => sqliteStore({} as never), /database must be a database of libsql/)
})

t.test(
  'declares an operation of Next.js again, as its development server does when a route changes',
  async t => {
    const gw = onNext({ ...options, peer: 'none' })
    const declare = (scope: string) => () => gw.read('payments.list', { scope }, handler)
    t.doesNotThrow(declare('a'))
    t.doesNotThrow(declare('a'))
    t.throws(declare('b'), /payments\.list is declared twice/)
    t.throws(declare('b'), /payments\.list is declared twice/)
    const read = (surface: 'user' | 'partner') => () => gw.read('cards.list', { scope: [], surface }, handler)
    for (const surface of ['user', 'partner', 'user', 'partner'] as const) t.doesNotThrow(read(surface))
  },
)
