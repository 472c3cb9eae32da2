import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { ChildProcess } from 'node:child_process'
import { fromPgPool } from '@gatewright/kernel/sql'
import { createIssuer, type ApiKey, type Issuer } from '@gatewright/session-issuer'
import { migrateCredentials, postgresCredentials } from '@gatewright/session-issuer/postgres'
import { redisCredentials } from '@gatewright/session-issuer/redis'
import { staticSigningKeyStorage } from '@gatewright/session-issuer/static'
import { exportJWK } from 'jose'
import t from 'tap'
import { startChild } from '../../harness/child.ts'
import { openPostgresPool, openRedis, uniqueName } from '../../harness/stores.ts'
import { AUDIENCE, ISSUER, signingKey } from '../issuer.ts'
import type { Report } from './host.child.ts'

const ROUNDS = 20
const BOUND_MS = 1000

/** An issuer on a real store, and what closes it. */
async function open(backend: string, name: string): Promise<{ issuer: Issuer; close(): Promise<unknown> }> {
  const { privateKey } = await signingKey('EdDSA')
  const options = {
    issuer: ISSUER,
    audience: AUDIENCE,
    environment: 'sandbox',
    peppers: [{ id: 'p1', secret: randomBytes(32).toString('base64url') }],
    signingKeys: staticSigningKeyStorage([{ ...(await exportJWK(privateKey)), alg: 'EdDSA' }]),
  } as const
  if (backend === 'Redis') {
    const { connections, close } = await openRedis(1)
    return {
      issuer: createIssuer({ ...options, ...redisCredentials(connections[0]!, { prefix: `${name}:` }) }),
      close,
    }
  }
  const pool = await openPostgresPool(name, 2)
  const db = fromPgPool(pool)
  await migrateCredentials(db)
  return { issuer: createIssuer({ ...options, ...postgresCredentials(db) }), close: () => pool.end() }
}

async function newKey(issuer: Issuer): Promise<ApiKey> {
  const made = await issuer.createKey({
    surface: 'user',
    accountId: uniqueName(),
    userId: null,
    walletAddress: null,
    scopes: ['cards.read'],
  })
  if (!made.ok) throw new Error(made.message)
  return made.value.key
}

const reportOf = async (child: ChildProcess): Promise<Report> =>
  ((await once(child, 'message')) as [Report])[0]

/**
 * Revokes while three hosts check requests, and returns how long after the revoking call returned the last request passed. Undefined when the
 * machine stood still for so long that a host held its feed for stale and asked the store.
 */
async function round(
  issuer: Issuer,
  hosts: readonly ChildProcess[],
  what: 'session' | 'key',
): Promise<number | undefined> {
  const key = await newKey(issuer)
  const issued = await issuer.issueSession(key)
  if (!issued.ok) throw new Error(issued.message)
  const passing = hosts.map(reportOf)
  for (const host of hosts) host.send({ authorization: `Bearer ${issued.value.token}` })
  await Promise.all(passing)
  const ended = hosts.map(reportOf)
  const verdict =
    what === 'key'
      ? await issuer.revokeKey(key, key.id)
      : await issuer.endSession(key, issued.value.session.sessionId)
  const revokedAt = Date.now()
  if (!verdict.ok) throw new Error(verdict.message)
  const reports = await Promise.all(ended)
  const ends = reports.map(report => {
    if (typeof report === 'string') throw new Error(`a host said ${report}`)
    return report
  })
  return ends.some(({ asked }) => asked > 0)
    ? undefined
    : Math.max(...ends.map(({ lastPassedAt }) => lastPassedAt - revokedAt))
}

for (const backend of ['Redis', 'Postgres']) {
  for (const push of ['push', 'poll'] as const) {
    t.test(`a revocation reaches 3 hosts within ${BOUND_MS} ms on ${backend} by ${push}`, async t => {
      const name = uniqueName()
      const { issuer, close } = await open(backend, name)
      t.teardown(close)
      const module = new URL('./host.child.js', import.meta.url)
      const hosts = Array.from({ length: 3 }, () => startChild(module, [backend, name, push]))
      t.teardown(() => hosts.forEach(host => host.kill('SIGKILL')))
      await Promise.all(hosts.map(reportOf))
      const { keys } = await issuer.jwks()
      for (const host of hosts) host.send({ keys })
      const delays: number[] = []
      let rounds = 0
      for (; delays.length < ROUNDS && rounds < 2 * ROUNDS; rounds++) {
        const delay = await round(issuer, hosts, rounds % 2 ? 'key' : 'session')
        if (delay !== undefined) delays.push(delay)
      }
      t.equal(delays.length, ROUNDS, 'the feed is stale only when the machine pauses')
      delays.sort((a, b) => a - b)
      const [median, most] = [delays[ROUNDS / 2], delays.at(-1)] as [number, number]
      t.comment(
        `measured ${backend} by ${push}: last request passed ${median} ms (median), ${most} ms (most) after the ` +
          `revoking call returned; ${ROUNDS} revocations, 3 processes, bound ${BOUND_MS} ms; ${rounds - ROUNDS} rounds with a stale feed`,
      )
      t.ok(most <= BOUND_MS, `${most} ms`)
    })
  }
}
