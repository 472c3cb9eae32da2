// What minting and authenticating cost beside the primitives they are made of, and end to end on each store.
import { memoryFeed, toClaims, type Verdict } from '@gatewright/kernel'
import { createIssuer, type SessionStorage, type IssuerOptions } from '@gatewright/session-issuer'
import { memoryCredentials } from '@gatewright/session-issuer/memory'
import { migrateCredentials, postgresCredentials } from '@gatewright/session-issuer/postgres'
import { redisCredentials } from '@gatewright/session-issuer/redis'
import { migrateCredentials as migrateSqlite, sqliteCredentials } from '@gatewright/session-issuer/sqlite'
import { staticSigningKeyStorage } from '@gatewright/session-issuer/static'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import { openPostgres, openRedis, openSqlite, uniqueName } from '../harness/stores.ts'
import { compare } from './harness.ts'

const pepper = randomBytes(32)
const USER = {
  surface: 'user',
  accountId: 'acc',
  userId: 'usr',
  walletAddress: `0x${'ab'.repeat(20)}`,
} as const
const SCOPES = ['cards.read', 'cards.write', 'subscriptions.read', 'subscriptions.write', 'users.read']

type Stores = Pick<IssuerOptions, 'keys' | 'sessions' | 'audit'>

async function issuerWithKey(stores: Stores, algorithm: 'EdDSA' | 'ES256' = 'EdDSA') {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true })
  const issuer = createIssuer({
    issuer: 'https://gate.example',
    audience: 'https://gate.example',
    environment: 'live',
    peppers: [{ id: 'p1', secret: pepper }],
    algorithm,
    ...stores,
    signingKeys: staticSigningKeyStorage([await exportJWK(privateKey)]),
  })
  const made = await issuer.createKey({ ...USER, scopes: SCOPES, policy: { dailySpendCapCents: 100 } })
  if (!made.ok) throw new Error(made.code)
  return { issuer, privateKey, ...made.value }
}

/** Throws unless the verdict is the expected one: the time of a call that is denied for another reason is worthless. */
async function expect(deciding: Verdict<unknown> | Promise<Verdict<unknown>>, outcome = 'ok'): Promise<void> {
  const verdict = await deciding
  const got = verdict.ok ? 'ok' : verdict.code
  if (got !== outcome) throw new Error(`expected ${outcome}, got ${got}`)
}

const inMemory = (): Stores => memoryCredentials({ feed: memoryFeed() })
const nowhere: SessionStorage = { ...inMemory().sessions, insert: async () => true }

for (const algorithm of ['EdDSA', 'ES256'] as const) {
  const { issuer, key, privateKey } = await issuerWithKey({ ...inMemory(), sessions: nowhere }, algorithm)
  const sample = await issuer.issueSession(key)
  if (!sample.ok) throw new Error(sample.code)
  const claims = {
    ...toClaims(sample.value.session),
    iss: 'https://gate.example',
    aud: 'https://gate.example',
  }
  const header = { alg: algorithm, kid: 'x'.repeat(43), typ: 'at+jwt' }
  await compare(`session-issuer: mint without storage, ${algorithm}`, {
    ours: { name: 'issueSession', run: () => issuer.issueSession(key) },
    peers: [
      {
        name: `jose SignJWT ${algorithm}`,
        run: () => new SignJWT(claims).setProtectedHeader(header).sign(privateKey),
        // jose signs with WebCrypto, which runs in a thread; issueSession signs in this one, with node:crypto.
        minRatio: 1 / 0.6,
      },
    ],
    operations: 2000,
    // Our code is longer than the peer's, so V8 needs more rounds to compile it, and its CPU time would count.
    warmups: 8,
  })
}

const { issuer, text } = await issuerWithKey(inMemory())
const secret = createSecretKey(pepper)
// Checked once, since checking each call would be measured, too. It also fills the issuer's cache of keys.
await expect(issuer.authenticateKey(text, 'user'))
const hmac = { name: 'one HMAC-SHA-256', run: () => createHmac('sha256', secret).update(text).digest() }
await compare('session-issuer: authenticate a key known to the process', {
  ours: { name: 'authenticateKey', run: () => issuer.authenticateKey(text, 'user') },
  peers: [{ ...hmac, minRatio: 0.5 }],
  operations: 100_000,
})

const junk = [
  text.slice(0, -1) + (text.endsWith('0') ? '1' : '0'),
  text.replace('live', 'sandbox'),
  'x'.repeat(text.length),
  randomBytes(40).toString('base64url'),
]
for (const one of junk) await expect(issuer.authenticateKey(one, 'user'), 'unauthorized')
await compare('session-issuer: deny junk', {
  ours: { name: 'authenticateKey', run: index => issuer.authenticateKey(junk[index % junk.length], 'user') },
  peers: [{ ...hmac, minRatio: 1 }],
  operations: 200_000,
})

const redis = await openRedis(1)
const postgres = await openPostgres(8, migrateCredentials)
const sqlite = await openSqlite(1, migrateSqlite)
let calls = 0
// Round robin over 8 connections, as a pool would.
const postgresPool: Stores = postgresCredentials({
  dialect: 'postgres',
  query: (...args) => postgres.connections[calls++ % 8]!.query(...args),
  transaction: work => postgres.connections[calls++ % 8]!.transaction(work),
})
const stores: Record<string, Stores> = {
  memory: inMemory(),
  SQLite: sqliteCredentials(sqlite.connections[0]!),
  Redis: redisCredentials(redis.connections[0]!, { prefix: `${uniqueName()}:` }),
  Postgres: postgresPool,
}
const sides = await Promise.all(
  Object.entries(stores).map(async ([name, store]) => ({ name, ...(await issuerWithKey(store)) })),
)
const [first, ...others] = sides as [(typeof sides)[0], ...typeof sides]
type ToOperation = (side: (typeof sides)[0]) => { name: string; run: () => unknown }
/** Compares the stores with each other: the one in memory stands in the place of ours. */
const endToEnd = (title: string, toOperation: ToOperation, operations: number) =>
  compare(title, { ours: toOperation(first), peers: others.map(toOperation), operations, concurrency: 16 })

await endToEnd(
  'session-issuer: mint end to end',
  ({ name, issuer, key }) => ({ name, run: () => expect(issuer.issueSession(key)) }),
  400,
)
await endToEnd(
  'session-issuer: authenticate end to end, nothing cached',
  ({ name, text }) => {
    const cold = createIssuer({
      issuer: 'x',
      audience: 'x',
      environment: 'live',
      peppers: [{ id: 'p1', secret: pepper }],
      ...(stores[name] as Stores),
      signingKeys: { load: async () => ({ revision: 0, keys: [] }), replace: async () => false },
    })
    return { name, run: () => expect(cold.authenticateKey(text, 'user')) }
  },
  2000,
)
await Promise.all([redis.close(), postgres.close(), sqlite.close()])
