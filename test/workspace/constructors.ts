import { createClient } from '@gatewright/client'
import { gate } from '@gatewright/http'
import { expressGate } from '@gatewright/http/express'
import { fastifyGate } from '@gatewright/http/fastify'
import { fetchGate } from '@gatewright/http/fetch'
import { koaGate } from '@gatewright/http/koa'
import { createIdempotency, createLostRuns } from '@gatewright/idempotency-store'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import * as idempotencyPostgres from '@gatewright/idempotency-store/postgres'
import { redisIdempotency } from '@gatewright/idempotency-store/redis'
import { mariadbIdempotency } from '@gatewright/idempotency-store/mariadb'
import { sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { memoryFeed } from '@gatewright/kernel'
import { createFairQueue } from '@gatewright/kernel/internal'
import type { RedisClient } from '@gatewright/kernel/redis'
import { fromPostgresJs, fromTransaction } from '@gatewright/kernel/orms'
import { fromPgPool, fromSqlite, migrate } from '@gatewright/kernel/sql'
import {
  assertNoShadowing,
  createAliases,
  createUsageLog,
  listAliases,
} from '@gatewright/legacy-alias-router'
import { memoryAliasUsage } from '@gatewright/legacy-alias-router/memory'
import { postgresAliasUsage } from '@gatewright/legacy-alias-router/postgres'
import { redisAliasUsage } from '@gatewright/legacy-alias-router/redis'
import { sqliteAliasUsage } from '@gatewright/legacy-alias-router/sqlite'
import { startHost, runCommand } from '@gatewright/reference-host'
import { viemReader } from '#packages/reference-host/dist/chain/viem-reader.js'
import { runHost } from '@gatewright/host'
import {
  createFailureLimit,
  createGuard,
  createRateLimit,
  discoverKeys,
  remoteKeys,
  sessionReader,
  type GuardOptions,
} from '@gatewright/scope-guard'
import { memoryApprovals, memorySpends } from '@gatewright/scope-guard/memory'
import { postgresApprovals, postgresSpends, sqlRevocationFeed } from '@gatewright/scope-guard/postgres'
import { redisApprovals, redisRevocationFeed, redisSpends } from '@gatewright/scope-guard/redis'
import { mariadbSpends } from '@gatewright/scope-guard/mariadb'
import { sqliteApprovals, sqliteSpends } from '@gatewright/scope-guard/sqlite'
import { createIssuer } from '@gatewright/session-issuer'
import { memoryCredentials } from '@gatewright/session-issuer/memory'
import { postgresCredentials } from '@gatewright/session-issuer/postgres'
import { redisCredentials } from '@gatewright/session-issuer/redis'
import { sqliteCredentials } from '@gatewright/session-issuer/sqlite'
import { createVerifier } from '@gatewright/signature-verifier'
import { memoryNonces } from '@gatewright/signature-verifier/memory'
import { postgresNonces } from '@gatewright/signature-verifier/postgres'
import { redisNonces } from '@gatewright/signature-verifier/redis'
import { sqliteNonces } from '@gatewright/signature-verifier/sqlite'
import Database from 'libsql'
import { gatewrightConstructors } from './gatewright-constructors.ts'
import { devIssuer } from 'gatewright/testing'
import postgresJs from 'postgres'

/** One object of options, and the public function that takes it. */
export interface Constructor {
  /** What the rejection says before the colon: the function, and the object inside its options. */
  readonly where: string
  /** Options that are taken. */
  readonly valid: object
  /** Calls the function with the object in its place; what it throws or rejects with is the rejection. */
  readonly call: (options: never) => unknown
}

const db = fromSqlite(new Database(':memory:'))
const postgres = { ...db, dialect: 'postgres' } as const
const redis: RedisClient = { run: async () => null }
const pool = {
  query: async () => ({ rows: [] }),
  connect: async () => Promise.reject(new Error('never asked')),
}
const row = (where: string, valid: object, call: (options: never) => unknown): Constructor => ({
  where,
  valid,
  call,
})

const guard: GuardOptions = {
  issuer: 'https://issuer.test',
  audience: 'https://api.test',
  keys: () => undefined,
}
const limit = { name: 'all', points: 1, windowSeconds: 1 }
const isLive = async (): Promise<boolean> => true
const feed = { after: async () => [] }
const guardWith = (changes: object): unknown => createGuard({ ...guard, ...changes })

const guards: readonly Constructor[] = [
  row('createGuard', guard, createGuard),
  row('createGuard limits[1]', { ...limit, per: 'key' }, options =>
    guardWith({ limits: [{ ...limit, name: 'first', per: 'key' }, options] }),
  ),
  row('createGuard failedCredentials', {}, options => guardWith({ failedCredentials: options })),
  row('createGuard revocation (off)', { mode: 'off' }, options => guardWith({ revocation: options })),
  row('createGuard revocation (strict)', { mode: 'strict', isLive }, options =>
    guardWith({ revocation: options }),
  ),
  row('createGuard revocation (feed)', { mode: 'feed', feed, isLive }, options =>
    guardWith({ revocation: options }),
  ),
  row('createGuard dpop', { nonces: { claim: async () => true }, origin: 'https://api.test' }, options =>
    guardWith({ dpop: options }),
  ),
  row('createRateLimit', limit, createRateLimit),
  row('createFailureLimit', {}, options => createFailureLimit('keys', options)),
  row('remoteKeys', {}, options => remoteKeys(new URL('https://issuer.test/jwks.json'), options)),
  row('discoverKeys', {}, options => discoverKeys('https://issuer.test', options)),
  row('sessionReader', {}, sessionReader),
]

const verifier = { service: 'Shop', nonces: memoryNonces() }
const verifierWith = (changes: object): unknown => createVerifier({ ...verifier, ...changes })
const rpc = { request: async () => null }

const verifiers: readonly Constructor[] = [
  row('createVerifier', verifier, createVerifier),
  row('createVerifier recoveries', {}, options => verifierWith({ recoveries: options })),
  row('createVerifier challenges', { templates: [] }, options => verifierWith({ challenges: options })),
  row('createVerifier contractWallets', { chains: {} }, options =>
    verifierWith({ contractWallets: options }),
  ),
  row('createVerifier contractWallets.chains.1', { rpc }, options =>
    verifierWith({ contractWallets: { chains: { 1: options } } }),
  ),
]

const issuer = {
  issuer: 'https://issuer.test',
  audience: 'https://api.test',
  environment: 'sandbox',
  peppers: [{ id: 'p1', secret: 'x'.repeat(32) }],
  ...memoryCredentials({ feed: memoryFeed() }),
  signingKeys: {},
} as const

const issuers: readonly Constructor[] = [
  row('createIssuer', issuer, createIssuer),
  row('createIssuer peppers[0]', issuer.peppers[0], options =>
    createIssuer({ ...issuer, peppers: [options] } as never),
  ),
]

const idempotency = { storage: memoryIdempotency() }
const transactional = { db, storage: sqliteIdempotency }
const kept = { mode: 'serve', from: 'x-old', to: 'x-new' } as const

const resource = { resource: 'https://api.test', authorizationServers: ['https://issuer.test'] }

const others: readonly Constructor[] = [
  row('gate', {}, gate),
  row('gate protectedResource', resource, options => gate({ protectedResource: options })),
  row('expressGate', { body: 'stream' }, options => expressGate(gate(), options)),
  row('koaGate', { body: 'stream' }, options => koaGate(gate(), options)),
  row('fastifyGate', { body: 'kept' }, options => fastifyGate(gate(), options)),
  row('fetchGate', { body: 'stream', peer: 'none' }, options => fetchGate(gate(), options)),
  row('createIdempotency', idempotency, createIdempotency),
  row('createTransactionalIdempotency', transactional, createTransactionalIdempotency),
  row('alias table', {}, createAliases),
  row('alias table', {}, listAliases),
  row('alias table', {}, table => assertNoShadowing(table, [])),
  row('alias table headers[0]', kept, rename => createAliases({ headers: [rename] })),
  row('alias table requestFields[0]', { ...kept, operation: 'a.b', from: 'old', to: 'new' }, rename =>
    createAliases({ requestFields: [rename] }),
  ),
  row('alias table scopes[0]', { surface: 'user', from: 'old', to: null, mode: 'gone' }, rename =>
    createAliases({ scopes: [rename] }),
  ),
  row('alias table headers[0] mode', { deprecatedSince: 0 }, mode =>
    createAliases({ headers: [{ ...kept, mode }] }),
  ),
  row('createUsageLog', { storage: memoryAliasUsage() }, createUsageLog),
  row('createFairQueue', { atOnce: 1, waiting: 1, waitingPerClass: 1, turnMs: 1 }, createFairQueue),
  row('fromPgPool', {}, options => fromPgPool(pool, options)),
  row('fromPostgresJs', {}, options => fromPostgresJs(postgresJs(), options)),
  row('fromTransaction', {}, options =>
    fromTransaction(
      { dialect: 'postgres', run: async () => ({ rows: [] }), transaction: work => work({}) },
      options,
    ),
  ),
  row('migrate', { namespace: 'notes', ddl: '-- version 1' }, options =>
    migrate({ ...fromPgPool(pool), planMigration: () => {} }, options),
  ),
  row('viemReader', { chainId: 1, url: 'http://127.0.0.1:1' }, viemReader),
]

const storages: readonly Constructor[] = [
  row('memoryCredentials', { feed: memoryFeed() }, memoryCredentials),
  ...[memoryNonces, memorySpends, memoryApprovals, memoryAliasUsage, memoryIdempotency].map(open =>
    row(open.name, {}, open),
  ),
  ...[redisCredentials, redisNonces, redisSpends, redisApprovals, redisAliasUsage, redisIdempotency].map(
    open => row(open.name, {}, options => open(redis, options)),
  ),
  ...[
    postgresCredentials,
    postgresNonces,
    postgresSpends,
    postgresApprovals,
    postgresAliasUsage,
    idempotencyPostgres.postgresIdempotency,
  ].map(open => row(open.name, {}, options => open(postgres, options))),
  row('postgresTransactionalIdempotency', {}, options =>
    idempotencyPostgres.postgresTransactionalIdempotency(postgres, options),
  ),
  ...[
    sqliteCredentials,
    sqliteNonces,
    sqliteSpends,
    sqliteApprovals,
    sqliteAliasUsage,
    sqliteIdempotency,
    mariadbSpends,
    mariadbIdempotency,
  ].map(open => row(open.name, {}, options => open(db, options))),
  row('createClient', { url: 'https://api.example' }, createClient),
  row('createClient credential', {}, credential => createClient({ url: 'https://api.example', credential })),
  row('createLostRuns', { storage: memoryIdempotency() }, createLostRuns),
  row('redisRevocationFeed', {}, options => redisRevocationFeed(redis, options)),
  row('runCommand', { env: {}, ask: undefined }, options => runCommand(['help'], options)),
  row('sqlRevocationFeed', {}, options => sqlRevocationFeed(db, options)),
]

/** Every public function that takes options, with each object inside them. */
export const constructors: readonly Constructor[] = [
  ...guards,
  ...verifiers,
  ...issuers,
  ...others,
  ...storages,
  ...gatewrightConstructors,
]

/** Reject before they open anything; valid options would start a host, or an issuer on a port. */
export const startedHosts: readonly Constructor[] = [
  row('devIssuer', {}, devIssuer),
  row('startHost', {}, options => startHost({} as never, options)),
  row('runHost', {}, options => runHost({} as never, { modules: [] } as never, options)),
]
