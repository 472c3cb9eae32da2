import type { NonceStorage } from '@gatewright/signature-verifier'
import { migrateNonces, postgresNonces } from '@gatewright/signature-verifier/postgres'
import { redisNonces } from '@gatewright/signature-verifier/redis'
import { migrateNonces as migrateSqlite, sqliteNonces } from '@gatewright/signature-verifier/sqlite'
import { race } from '@gatewright/kernel/testing'
import t from 'tap'
import { openPostgres, openRedis, openSqlite, uniqueName } from '../harness/stores.ts'
import { fieldsFor, newWallet, openVerifier, signed } from './wallets.ts'

const wallet = newWallet()
const recoveries = { waiting: 256 }

/** Counts the results of 60 calls with one statement, on as many hosts as storages, with one clock. */
async function outcomes(storages: readonly NonceStorage[]): Promise<Record<string, number>> {
  const hosts = storages.map(nonces => openVerifier({ nonces, recoveries }))
  const proof = await signed(wallet, fieldsFor(wallet, hosts[0]!.clock))
  const verdicts = await race(60, index => hosts[index % hosts.length]!.verify(proof))
  const counts: Record<string, number> = {}
  for (const verdict of verdicts) {
    const outcome = verdict.ok ? 'ok' : (verdict.reason ?? verdict.code)
    counts[outcome] = (counts[outcome] ?? 0) + 1
  }
  return counts
}

const ONE = { ok: 1, 'nonce used before': 59 }

t.test('of 60 parallel verifications of one statement over 4 Redis connections, one succeeds', async t => {
  const { connections, close } = await openRedis(4)
  t.teardown(close)
  const prefix = uniqueName()
  t.same(await outcomes(connections.map(client => redisNonces(client, { prefix }))), ONE)
})

t.test('of 60 parallel verifications of one statement over 4 Postgres connections, one succeeds', async t => {
  const { connections, close } = await openPostgres(4, migrateNonces)
  t.teardown(close)
  t.same(await outcomes(connections.map(db => postgresNonces(db))), ONE)
})

t.test('of 60 parallel verifications of one statement over 2 SQLite connections, one succeeds', async t => {
  const { connections, close } = await openSqlite(2, migrateSqlite)
  t.teardown(close)
  t.same(await outcomes(connections.map(db => sqliteNonces(db))), ONE)
})

t.test('a statement stays used after a restart until its times no longer allow it', async t => {
  const { connections, close } = await openSqlite(1, migrateSqlite)
  t.teardown(close)
  const first = openVerifier({ nonces: sqliteNonces(connections[0]!) })
  const proof = await signed(wallet, fieldsFor(wallet, first.clock))
  t.match(await first.verify(proof), { ok: true })
  for (const later of [0, 299_999, 300_000]) {
    const second = openVerifier({ nonces: sqliteNonces(connections[0]!) })
    second.clock.advance(later)
    t.match(await second.verify(proof), {
      ok: false,
      reason: later < 300_000 ? 'nonce used before' : 'expired',
    })
  }
})

t.test('two hosts whose clocks are 60 s apart accept one statement once', async t => {
  const { connections, close } = await openRedis(2)
  t.teardown(close)
  const prefix = uniqueName()
  const [slow, fast] = connections.map(client => openVerifier({ nonces: redisNonces(client, { prefix }) }))
  fast!.clock.advance(60_000)
  const proof = await signed(wallet, fieldsFor(wallet, fast!.clock))
  t.match(await slow!.verify(proof), { ok: true })
  t.match(await fast!.verify(proof), { ok: false, reason: 'nonce used before' })
})
