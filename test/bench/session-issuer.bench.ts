// What minting and authenticating cost beside the primitives they are made of, and end to end on each store.
import { memoryFeed, toClaims, type Verdict } from '@gatewright/kernel'
import { createIssuer, type IssuerOptions, type SessionStorage } from '@gatewright/session-issuer'
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

async function set(stores: Stores, algorithm: 'EdDSA' | 'ES256' = 'EdDSA') {
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

/** Insists on the outcome: a bench of a denial, or of another one, would be fast and worthless. */
async function expect(deciding: Verdict<unknown> | Promise<Verdict<unknown>>, outcome = 'ok'): Promise<void> {
  const verdict = await deciding
  const got = verdict.ok ? 'ok' : verdict.code
  if (got !== outcome) throw new Error(`expected ${outcome}, got ${got}`)
}

const inMemory = (): Stores => memoryCredentials({ feed: memoryFeed() })
const nowhere: SessionStorage = { ...inMemory().sessions, insert: async () => true }

for (const algorithm of ['EdDSA', 'ES256'] as const) {
  const { issuer, key, privateKey } = await set({ ...inMemory(), sessions: nowhere }, algorithm)
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
        atLeast: 1 / 0.6,
      },
    ],
    operations: 2000,
    // The path is longer than the peer's, so the compiler, whose CPU counts too, is done with it later.
    warmups: 8,
  })
}

const { issuer, text } = await set(inMemory())
const secret = createSecretKey(pepper)
await expect(issuer.authenticateKey(text, 'user'))
const hmac = { name: 'one HMAC-SHA-256', run: () => createHmac('sha256', secret).update(text).digest() }
await compare('session-issuer: authenticate a key known to the process', {
  ours: { name: 'authenticateKey', run: () => issuer.authenticateKey(text, 'user') },
  peers: [{ ...hmac, atLeast: 0.5 }],
  operations: 100_000,
})

const junk = [
  text.slice(0, -1) + (text.endsWith('0') ? '1' : '0'),
  text.replace('live', 'sandbox'),
  'x'.repeat(text.length),
  randomBytes(40).toString('base64url'),
]
for (const one of junk) await expect(issuer.authenticateKey(one, 'user'), 'unauthorized')
await compare('session-issuer: refuse junk', {
  ours: { name: 'authenticateKey', run: index => issuer.authenticateKey(junk[index % junk.length], 'user') },
  peers: [{ ...hmac, atLeast: 1 }],
  operations: 200_000,
})

const redis = await openRedis(1)
const postgres = await openPostgres(8, migrateCredentials)
const sqlite = await openSqlite(1, migrateSqlite)
let turn = 0
const overPools: Stores = {
  // Round robin over 8 connections, as a pool would.
  ...postgresCredentials({
    query: (...args) => postgres.connections[turn++ % 8]!.query(...args),
    transaction: work => postgres.connections[turn++ % 8]!.transaction(work),
  }),
}
const stores: Record<string, Stores> = {
  memory: inMemory(),
  SQLite: sqliteCredentials(sqlite.connections[0]!),
  Redis: redisCredentials(redis.connections[0]!, { prefix: `{${uniqueName()}}:` }),
  Postgres: overPools,
}
const sides = await Promise.all(
  Object.entries(stores).map(async ([name, store]) => ({ name, ...(await set(store)) })),
)
const [first, ...others] = sides as [(typeof sides)[0], ...typeof sides]
type Of = (side: (typeof sides)[0]) => { name: string; run: () => unknown }
const endToEnd = (title: string, of: Of, operations: number) =>
  compare(title, { ours: of(first), peers: others.map(of), operations, concurrency: 16 })

await endToEnd(
  'session-issuer: mint end to end',
  s => ({ name: s.name, run: () => expect(s.issuer.issueSession(s.key)) }),
  400,
)
await endToEnd(
  'session-issuer: authenticate end to end, nothing cached',
  s => {
    const cold = createIssuer({
      issuer: 'x',
      audience: 'x',
      environment: 'live',
      peppers: [{ id: 'p1', secret: pepper }],

      ...(stores[s.name] as Stores),
      signingKeys: { load: async () => ({ revision: 0, keys: [] }), replace: async () => false },
      keyCacheMs: 0,
    })
    return { name: s.name, run: () => expect(cold.authenticateKey(s.text, 'user')) }
  },
  2000,
)
await Promise.all([redis.close(), postgres.close(), sqlite.close()])
