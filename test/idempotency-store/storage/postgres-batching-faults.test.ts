import { setImmediate } from 'node:timers/promises'
import type { BeginResult } from '#packages/idempotency-store/dist/storage/port.js'
import { migrateIdempotency, postgresIdempotency } from '@gatewright/idempotency-store/postgres'
import { Fault } from '@gatewright/kernel'
import { fromPgPool, rows, type SqlClient } from '@gatewright/kernel/sql'
import { faultProxy, race } from '@gatewright/kernel/testing'
import t from 'tap'
import { faultyPostgres } from '../../harness/databases/faulty.ts'
import { openPostgresPool, uniqueName } from '../../harness/stores.ts'
import {
  beginAll,
  done,
  endAll,
  keys,
  LEASE,
  NOW,
  openHost,
  openHosts,
  STARTED,
  times,
  watch,
  type Host,
} from './hosts.ts'

void t.test('fails only the call that the server refuses', async t => {
  const { storage, failedStates, batchSizes } = await openHost(t)
  const fault = { name: 'Fault', code: 'ERR_STORE_UNAVAILABLE' }
  const begin = (fingerprint: string, index: number): Promise<BeginResult> =>
    storage.begin(`key ${index}`, fingerprint, LEASE, NOW)
  const begun = await Promise.allSettled(['f', 'f', '\u0000', 'f'].map(begin))
  t.match(begun, [
    { value: STARTED },
    { value: STARTED },
    { status: 'rejected', reason: fault },
    { value: STARTED },
  ])
  const fences = [NOW, NOW, 1e30, NOW]
  const ended = await Promise.allSettled(
    fences.map((fence, index) => storage.end(`key ${index}`, fence, done('{}'), NOW)),
  )
  t.match(ended, [{ value: true }, { value: true }, { status: 'rejected', reason: fault }, { value: true }])
  t.same(batchSizes, [1, 3, 1, 1, 1, 1, 3, 1, 1, 1])
  t.same(failedStates, ['22021', '22021', '22P02', '22P02'])
})

void t.test('shares no more statements of a method with a server that does not support them', async t => {
  const { db, batchSizes } = await openHost(t)
  // As Citus does, whose errors have this SQLSTATE.
  const refusing: SqlClient = {
    ...db,
    query(text, values) {
      if (!text.includes('calls')) return db.query(text, values)
      return db.query("do $$ begin raise 'not supported' using errcode = '0A000'; end $$")
    },
  }
  const storage = postgresIdempotency(refusing)
  const begin = (key: string): Promise<BeginResult> => storage.begin(key, 'f', LEASE, NOW)
  for (const round of ['a', 'b'])
    t.same(await race(4, index => begin(`${round}${index}`)), [STARTED, STARTED, STARTED, STARTED])
  t.equal(batchSizes.length, 9, 'one refused statement, and one for each call')
})

void t.test('repeats call by call a statement that Postgres cancelled because of a deadlock', async t => {
  const host = await openHost(t, '-c deadlock_timeout=20ms')
  const { db, storage } = host
  const [low, high] = await twoFreeKeys(host)
  const read = 'select 1 from gw_idempotency where digest = $1'
  let begun: Promise<BeginResult[]> | undefined
  await db.transaction(async tx => {
    await rows(tx, "set local deadlock_timeout = '1h'")
    // Postgres looks for a deadlock once in each wait. The statement waits for `first` while the transactions lock in the
    // opposite order, and finds the deadlock in its second wait, for `tx`.
    const { locksLow } = await db.transaction(async first => {
      await rows(first, `${read} for share`, [high])
      await rows(tx, `${read} for share`, [high])
      begun = race(3, index => storage.begin(['other', 'a', 'b'][index] as string, 'f', LEASE, NOW))
      await untilOneWaits(host, 'with%calls%')
      const locksLow = rows(tx, `${read} for update`, [low])
      await untilOneWaits(host, 'select 1 %for update')
      return { locksLow }
    })
    await locksLow
  })
  t.same(await begun, [STARTED, { state: 'started', fence: NOW + 1 }, { state: 'started', fence: NOW + 1 }])
  t.same(host.failedStates, ['40P01'])
})

/** Frees the keys a and b, so that a begin writes their rows, and returns their digests in order. */
async function twoFreeKeys({ storage, db }: Host): Promise<[low: string, high: string]> {
  await beginAll(storage, ['a', 'b'])
  await endAll(storage, ['a', 'b'], { state: 'free', expiresAt: LEASE })
  const found = await rows(db, 'select digest from gw_idempotency order by digest')
  return found.map(row => row['digest']) as [string, string]
}

/** Returns once a statement that begins so waits for a row. */
async function untilOneWaits({ db }: Host, statement: string): Promise<void> {
  const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like $1`
  while ((await rows(db, waiting, [statement])).length === 0) await setImmediate()
}

void t.test('starts each key once under repeatable read', async t => {
  const hosts = await openHosts(t, 2, '-c default_transaction_isolation=repeatable\\ read')
  for (let round = 0; round < 10; round++) {
    const each = keys(30, `round ${round}`)
    const begun = await Promise.allSettled(
      hosts.flatMap(({ storage }) => each.map(key => storage.begin(key, 'f', LEASE, NOW))),
    )
    const started = begun.filter(result => result.status === 'fulfilled' && result.value.state === 'started')
    t.ok(started.length <= 30, `${started.length} started`)
    const again = await beginAll((hosts[0] as Host).storage, each)
    t.same(
      again.map(({ state }) => state),
      times(30, 'running'),
    )
  }
})

void t.test('returns started for a begin that took effect, when its statement is repeated', async t => {
  const { db } = await openHost(t)
  const fault = new Fault('ERR_STORE_UNAVAILABLE', 'shut down', {
    cause: Object.assign(new Error('terminating connection'), { code: '57P01' }),
  })
  const { storage, batchSizes } = watch(db, async size => {
    if (size > 1) throw fault
  })
  t.same(await beginAll(storage, keys(4)), times(4, STARTED))
  t.same(await endAll(storage, keys(4), done('{}')), times(4, true))
  // A begin alone that finds its record reads it by a second statement.
  t.same(batchSizes, [1, 3, 1, 1, 1, 1, 1, 1, 1, 3, 1, 1, 1])
})

void t.test('does not start a run that another caller ended before its begin is repeated', async t => {
  const { db, storage: other } = await openHost(t)
  const fault = new Fault('ERR_STORE_UNAVAILABLE', 'shut down', {
    cause: Object.assign(new Error('terminating connection'), { code: '57P01' }),
  })
  const { storage } = watch(db, async size => {
    if (size === 1) return
    await other.end('key 1', NOW, done('"decided"'), NOW)
    await other.end('key 2', NOW, { state: 'free', expiresAt: LEASE }, NOW)
    throw fault
  })
  t.same(await beginAll(storage, keys(4)), [
    STARTED,
    done('"decided"'),
    { state: 'started', fence: NOW + 1 },
    STARTED,
  ])
})

void t.test('fails every call of a statement without a reply, and repeats none', async t => {
  const schema = uniqueName()
  const healthy = await openPostgresPool(schema, 2)
  await migrateIdempotency(fromPgPool(healthy))
  const record = postgresIdempotency(fromPgPool(healthy))
  const proxy = await faultProxy(process.env['TEST_POSTGRES_URL'] as string)
  t.teardown(async () => {
    await proxy.close()
    await healthy.query(`drop schema ${schema} cascade`)
    await healthy.end()
  })
  for (const harm of ['cutBefore', 'cutAfter'] as const) {
    proxy.harm = 'none'
    const pool = await openPostgresPool(schema, 2, proxy.url)
    // Two connections, made while the proxy is still harmless.
    await race(2, () => pool.query('select pg_sleep(0.05)'))
    proxy.harm = harm
    const { storage, batchSizes } = watch(fromPgPool(pool))
    const begun = await Promise.allSettled(keys(4, harm).map(key => storage.begin(key, 'f', LEASE, NOW)))
    for (const each of begun) t.match(each, { status: 'rejected', reason: { code: 'ERR_STORE_UNAVAILABLE' } })
    t.same(batchSizes, [1, 3], harm)
    const state = harm === 'cutAfter' ? { state: 'running' } : STARTED
    t.same(await beginAll(record, keys(4, harm)), times(4, state))
    await pool.end()
  }
})

void t.test('fails every call of a statement whose reply cannot be read', async t => {
  const { healthy, malformed, close } = await faultyPostgres(migrateIdempotency)
  t.teardown(close)
  const { storage, batchSizes } = watch(malformed)
  const begun = await Promise.allSettled(keys(4).map(key => storage.begin(key, 'f', LEASE, NOW)))
  for (const each of begun) t.match(each, { status: 'rejected', reason: { code: 'ERR_STORE_REPLY' } })
  const ended = await Promise.allSettled(keys(4).map(key => storage.end(key, NOW, done('{}'), NOW)))
  for (const each of ended) t.match(each, { status: 'rejected', reason: { code: 'ERR_STORE_REPLY' } })
  t.same(batchSizes, [1, 3, 1, 3])
  t.same(await beginAll(postgresIdempotency(healthy), keys(4)), times(4, done('{}')))
})
