// The revocation feed on Postgres. First how many revocations a second 16 clients can make, one session per call: of accounts in one lane, and in
// all lanes. Then 5,000 sessions a second are revoked for some seconds, ten of an account per call, while three guards in processes of their own
// follow the feed, and single sessions are revoked: the time from the return of the revoking call to the start of the last
// request that a guard still let pass.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { ChildProcess } from 'node:child_process'
import { fromPgPool } from '@gatewright/kernel/sql'
import { createIssuer } from '@gatewright/session-issuer'
import { laneOfAccount } from '@gatewright/session-issuer/internal'
import { sessionRecord } from '#packages/session-issuer/dist/testing/sample-records.js'
import { migrateCredentials, postgresCredentials } from '@gatewright/session-issuer/postgres'
import { staticSigningKeyStorage } from '@gatewright/session-issuer/static'
import { keyDigest } from '@gatewright/kernel'
import { exportJWK } from 'jose'
import { startChild } from '../harness/child.ts'
import { openPostgresPool, uniqueName } from '../harness/stores.ts'
import { AUDIENCE, ISSUER, signingKey } from '../scope-guard/issuer.ts'
import type { Report } from '../scope-guard/revocation/host.child.ts'
import { extent, reportMissed } from './extent.ts'

const CLIENTS = 16
const SINGLE = extent(10_000, 20)
const PER_ACCOUNT = 10
const CALLS_PER_SECOND = 500
const LOAD_CALLS = extent(10 * CALLS_PER_SECOND, 2)
/** Every so many ms the calls that are due are begun. */
const TICK_MS = 10
const GUARDS = 3
const BOUND_MS = 1000

const schema = uniqueName()
const pool = await openPostgresPool(schema, CLIENTS)
const db = fromPgPool(pool, { prepare: true })
await migrateCredentials(db)
const { sessions } = postgresCredentials(db)

/** Stores sessions, 1,000 rows by a statement. */
async function insertSessions(accounts: readonly string[]): Promise<string[]> {
  const records = accounts.map(accountId =>
    sessionRecord({ accountId, issuedAt: Date.now(), expiresAt: Date.now() + 3_600_000 }),
  )
  for (let from = 0; from < records.length; from += 1000) {
    const part = records.slice(from, from + 1000)
    const column = (of: (record: (typeof part)[number]) => string | number): (string | number)[] =>
      part.map(of)
    const id = column(({ sessionId }) => sessionId)
    await pool.query(
      `insert into gw_sessions (lane, id, account, root_id, path, expires_at, record)
        select * from unnest($1::text[], $2::text[], $3::text[], $2::text[], $2::text[], $4::bigint[], $5::text[])`,
      [
        column(({ accountId }) => String(laneOfAccount(accountId))),
        id,
        column(({ accountId }) => keyDigest(accountId)),
        column(({ expiresAt }) => expiresAt),
        column(({ revokedAt: _revokedAt, ...record }) => JSON.stringify(record)),
      ],
    )
  }
  return records.map(({ sessionId }) => sessionId)
}

/** Accounts with any lane, or with one. */
function accountsOf(count: number, lane?: number): string[] {
  const accounts: string[] = []
  while (accounts.length < count) {
    const account = randomUUID()
    if (lane === undefined || laneOfAccount(account) === lane) accounts.push(account)
  }
  return accounts
}

/** Revokes sessions one by one, by some clients at once. */
async function measureSingle(what: string, accounts: readonly string[]): Promise<void> {
  const left = await insertSessions(accounts)
  const count = left.length
  const started = performance.now()
  const client = async (): Promise<void> => {
    for (let id = left.pop(); id !== undefined; id = left.pop())
      if ((await sessions.revoke(id, Date.now())) !== 1) throw new Error('a session was not live')
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  const perSecond = count / ((performance.now() - started) / 1000)
  console.log(`  ${CLIENTS} clients, accounts of ${what}: ${perSecond.toFixed(0)} revocations/s`)
}

const reportOf = async (child: ChildProcess): Promise<Report> =>
  ((await once(child, 'message')) as [Report])[0]

/** Revokes all sessions of accounts at an even rate. Resolves to the seconds that it took. */
async function revokeAccounts(accounts: readonly string[]): Promise<number> {
  const started = performance.now()
  const calls: Promise<void>[] = []
  const revoke = async (account: string): Promise<void> => {
    const count = await sessions.revokeAccount(account, PER_ACCOUNT, Date.now())
    if (count !== PER_ACCOUNT) throw new Error(`${count} sessions were live`)
  }
  while (calls.length < accounts.length) {
    const due = Math.ceil(((performance.now() - started) / 1000) * CALLS_PER_SECOND)
    for (const account of accounts.slice(calls.length, due)) calls.push(revoke(account))
    await new Promise(resolve => setTimeout(resolve, TICK_MS))
  }
  await Promise.all(calls)
  return (performance.now() - started) / 1000
}

async function measureLoad(): Promise<void> {
  const { privateKey } = await signingKey('EdDSA')
  const ownPool = await openPostgresPool(schema, 2)
  const issuer = createIssuer({
    issuer: ISSUER,
    audience: AUDIENCE,
    environment: 'sandbox',
    peppers: [{ id: 'p1', secret: 'x'.repeat(32) }],
    signingKeys: staticSigningKeyStorage([{ ...(await exportJWK(privateKey)), alg: 'EdDSA' }]),
    ...postgresCredentials(fromPgPool(ownPool, { prepare: true })),
  })
  const module = new URL('../scope-guard/revocation/host.child.js', import.meta.url)
  const guards = Array.from({ length: GUARDS }, () => startChild(module, ['Postgres', schema, 'push']))
  await Promise.all(guards.map(reportOf))
  const published = await issuer.jwks()
  for (const guard of guards) guard.send({ keys: published.keys })

  const revokeOne = async (): Promise<number[]> => {
    const owner = { surface: 'user', accountId: randomUUID(), userId: null, walletAddress: null } as const
    const made = await issuer.createKey({ ...owner, scopes: ['cards.read'] })
    if (!made.ok) throw new Error(made.message)
    const issued = await issuer.issueSession(made.value.key)
    if (!issued.ok) throw new Error(issued.message)
    const passing = guards.map(reportOf)
    for (const guard of guards) guard.send({ authorization: `Bearer ${issued.value.token}` })
    await Promise.all(passing)
    const ended = guards.map(reportOf)
    await issuer.endSession(made.value.key, issued.value.session.sessionId)
    const revokedAt = Date.now()
    return (await Promise.all(ended)).map(report => {
      if (typeof report === 'string') throw new Error(`a guard said ${report}`)
      if (report.asked > 0) stale++
      return Math.max(0, report.lastPassedAt - revokedAt)
    })
  }
  let stale = 0
  const accounts = accountsOf(LOAD_CALLS)
  for (let copy = 0; copy < PER_ACCOUNT; copy++) await insertSessions(accounts)
  const delays: number[] = []
  const running = { load: true }
  const load = revokeAccounts(accounts).finally(() => {
    running.load = false
  })
  while (running.load || delays.length === 0) delays.push(...(await revokeOne()))
  const perSecond = (LOAD_CALLS * PER_ACCOUNT) / (await load)
  for (const guard of guards) guard.kill()
  await ownPool.end()
  delays.sort((a, b) => a - b)
  const at = (share: number): number => delays[Math.ceil(delays.length * share) - 1] as number
  console.log(
    `  ${perSecond.toFixed(0)} revocations/s, ${GUARDS} guards: a request passed at most ${at(0.5)} ms (p50), ${at(0.99)} ms (p99), ` +
      `${at(1)} ms (most) after a revoking call returned; ${delays.length} measured, ${stale} with a stale feed`,
  )
  if (at(0.99) > BOUND_MS) reportMissed(`p99 ${at(0.99)} ms > ${BOUND_MS} ms`)
}

try {
  console.log('revocation feed on Postgres')
  await measureSingle('all lanes, as a warm-up', accountsOf(SINGLE / 5))
  await measureSingle('one lane', accountsOf(SINGLE / 5, 7))
  await measureSingle('all lanes', accountsOf(SINGLE))
  await measureLoad()
} finally {
  await pool.query(`drop schema ${schema} cascade`)
  await pool.end()
}
