// What operators see of lost runs, and how they decide about them, on every store and over separate connections.
import {
  createIdempotency,
  createLostRuns,
  type IdempotencyStorage,
  type LostRunsOptions,
} from '@gatewright/idempotency-store'
import type { ListedLostRun } from '@gatewright/idempotency-store/internal'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { migrateIdempotency, postgresIdempotency } from '@gatewright/idempotency-store/postgres'
import { redisIdempotency } from '@gatewright/idempotency-store/redis'
import { migrateIdempotency as migrateSqlite, sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { Fault } from '@gatewright/kernel'
import { manualClock, race } from '@gatewright/kernel/testing'
import t, { type Test } from 'tap'
import { openPostgres, openRedis, openSqlite, uniqueName } from '../harness/stores.ts'
import { response, stillTimer, write } from './support.ts'

const LEASE_MS = 60_000
const DAY_MS = 86_400_000
const NOTE = { by: 'Ana', reason: 'OPS-71: the processor knows nothing of it' }

interface OpenStore {
  readonly storages: readonly IdempotencyStorage[]
  close(): Promise<void>
}

const STORES: Readonly<Record<string, () => Promise<OpenStore>>> = {
  async memory() {
    const storage = memoryIdempotency()
    return { storages: [storage, storage], close: async () => {} }
  },
  async SQLite() {
    const { connections, close } = await openSqlite(2, migrateSqlite)
    return { storages: connections.map(db => sqliteIdempotency(db)), close }
  },
  async Postgres() {
    const { connections, close } = await openPostgres(2, migrateIdempotency)
    return { storages: connections.map(db => postgresIdempotency(db)), close }
  },
  async Redis() {
    const { connections, close } = await openRedis(2)
    const prefix = uniqueName()
    return { storages: connections.map(client => redisIdempotency(client, { prefix })), close }
  },
}

async function setUp(t: Test, open: () => Promise<OpenStore>, options: Partial<LostRunsOptions> = {}) {
  const { storages, close } = await open()
  t.teardown(close)
  const [storage, other] = storages as [IdempotencyStorage, IdempotencyStorage]
  const clock = manualClock()
  const host = createIdempotency({ storage, clock, timer: stillTimer, waitMs: 0 })
  const operators = [storage, other].map(each => createLostRuns({ storage: each, clock, ...options }))
  const begin = async (key: string, change: object = {}) => {
    const begun = await host.begin(write({ key: `key-${key}-0001`, ...change }))
    if (!begun.ok || begun.value.state !== 'started') throw new Error(JSON.stringify(begun))
    return begun.value.claim
  }
  const [operator, second] = operators as [(typeof operators)[0], (typeof operators)[0]]
  return { storage, clock, host, operator, second, begin }
}

for (const [name, open] of Object.entries(STORES)) {
  await t.test(`lost runs in ${name}`, async t => {
    await t.test('lists operation, account and begin of each lost run, and pages through them', async t => {
      const { clock, operator, begin } = await setUp(t, open)
      const began = clock.now()
      const claims = []
      for (const key of ['a', 'b', 'c']) {
        claims.push(
          await begin(key, { account: `owner-${key}`, accountLabel: key === 'c' ? 'acc_2' : 'acc_1' }),
        )
        clock.advance(1)
      }
      t.same(await operator.list(), { runs: [], next: undefined })
      clock.advance(LEASE_MS)
      const expected = claims.map(
        (claim, index): ListedLostRun => ({
          id: `${claim.storageKey}.${claim.fence}`,
          operation: 'subscriptions.payin',
          account: index === 2 ? 'acc_2' : 'acc_1',
          effectId: claim.effectId,
          fence: claim.fence,
          beganAt: began + index,
          leaseEndedAt: began + index + LEASE_MS,
        }),
      )
      t.same(await operator.list(), { runs: expected, next: undefined })
      t.same((await operator.list({ account: 'acc_1' })).runs, expected.slice(0, 2))
      t.same((await operator.list({ account: 'owner-a' })).runs, [])
      const first = await operator.list({ limit: 2 })
      t.same(first.runs, expected.slice(0, 2))
      t.same(await operator.list({ limit: 2, after: first.next }), {
        runs: expected.slice(2),
        next: undefined,
      })
      t.same(await operator.list({ limit: 3 }), { runs: expected, next: undefined })
      t.same((await operator.list({ limit: 1 })).runs, expected.slice(0, 1))
    })

    await t.test(
      'frees the key of a released run, and shows who released it, through later runs',
      async t => {
        const { clock, host, operator, second, begin } = await setUp(t, open)
        const claim = await begin('a')
        clock.advance(LEASE_MS)
        const [run] = (await operator.list()).runs as [ListedLostRun]
        t.match(await operator.show(run.id), { state: 'lost', until: clock.now(), decision: null })
        t.equal(await operator.release(run.id, NOTE), true)
        const decision = { outcome: 'never_happened', ...NOTE, at: clock.now() }
        t.match(await second.show(run.id), { state: 'free', until: clock.now() + DAY_MS, decision })
        t.same((await second.list()).runs, [])
        t.same(await host.complete(claim, response(201)), { state: 'late' })
        const again = await begin('a')
        t.equal(again.effectId, claim.effectId)
        t.ok(again.fence > claim.fence)
        t.match(await second.show(run.id), { state: 'running', fence: again.fence, decision })
        t.match(await host.complete(again, response(201)), { state: 'stored' })
        t.match(await second.show(run.id), { state: 'done', decision })
      },
    )

    await t.test('replays the response of a resolved run, or 200 without a body', async t => {
      const { host, operator, begin } = await setUp(t, open)
      for (const [key, given, expected] of [
        ['a', response(201), response(201)],
        ['b', undefined, { status: 200, headers: [], body: '', bodyOmitted: true }],
      ] as const) {
        await host.complete(await begin(key), response(500))
        const [run] = (await operator.list()).runs as [ListedLostRun]
        t.equal(run.leaseEndedAt, null)
        t.equal(await operator.resolve(run.id, { response: given, ...NOTE }), true)
        t.match(await operator.show(run.id), { state: 'done', decision: { outcome: 'took_effect', ...NOTE } })
        const replay = { state: 'replay', response: expected, expiresAt: run.fence + 1 + DAY_MS }
        t.match(await host.begin(write({ key: `key-${key}-0001` })), { ok: true, value: replay })
      }
    })

    await t.test('decides nothing about a run that is not lost, is another one, or was decided', async t => {
      const { clock, host, operator, begin } = await setUp(t, open)
      const { storageKey, fence } = await begin('a')
      const id = `${storageKey}.${fence}`
      t.equal(await operator.release(id, NOTE), false, 'its lease has not ended')
      clock.advance(LEASE_MS)
      for (const other of [`${storageKey}.${fence + 1}`, `other.${fence}`, 'no id', ''])
        t.equal(await operator.release(other, NOTE), false, other)
      t.equal(await operator.release(id, NOTE), true)
      t.equal(await operator.resolve(id, NOTE), false, 'it was decided')
      const again = await begin('a')
      clock.advance(LEASE_MS)
      t.equal(await operator.resolve(id, NOTE), false, 'the key has a newer run')
      t.equal(await operator.resolve(`${storageKey}.${again.fence}`, NOTE), true)
      t.match(await host.begin(write({ key: 'key-a-0001' })), { ok: true, value: { state: 'replay' } })
      t.equal(await operator.show('unknown.1'), undefined)
      t.equal(await operator.show('no id'), undefined)
    })

    await t.test('of decisions made at once over separate connections, one counts', async t => {
      const ended: string[] = []
      const { clock, operator, second, begin } = await setUp(t, open, {
        endHolds: async ({ effectId }, outcome) => {
          ended.push(`${effectId} ${outcome}`)
        },
      })
      for (const round of [1, 2, 3, 4, 5]) {
        const { storageKey, fence, effectId } = await begin(`${round}`)
        clock.advance(LEASE_MS)
        const id = `${storageKey}.${fence}`
        ended.length = 0
        const won = await race(6, index => {
          const by = { by: `operator ${index}`, reason: 'r' }
          const each = index % 2 === 0 ? operator : second
          return index < 3 ? each.release(id, by) : each.resolve(id, by)
        })
        t.equal(won.filter(Boolean).length, 1)
        const { decision, state } = (await operator.show(id)) as { decision: object; state: string }
        const winner = won.indexOf(true)
        t.match(decision, { by: `operator ${winner}` })
        const outcome = winner < 3 ? 'never_happened' : 'took_effect'
        t.equal(state, winner < 3 ? 'free' : 'done')
        t.same(ended, [`${effectId} ${outcome}`], 'the hold was ended once, by the winner')
      }
    })

    await t.test('of a decision, a recovery and a late completion made at once, one counts', async t => {
      for (const round of [0, 1, 2, 3, 4, 5]) {
        const { storage, clock, host, operator, begin } = await setUp(t, open)
        const recovering = createIdempotency({
          storage,
          clock,
          timer: stillTimer,
          waitMs: 0,
          recover: async () => ({ state: 'completed', response: response(202) }),
        })
        const claim = await begin('a')
        clock.advance(LEASE_MS)
        const id = `${claim.storageKey}.${claim.fence}`
        const acts = [
          () => operator.release(id, NOTE),
          () => recovering.begin(write({ key: 'key-a-0001' })),
          async () => (await host.complete(claim, response(201))).state === 'stored',
        ]
        const order = [round % 3, (round + 1) % 3, (round + 2) % 3]
        const results = await race(3, index => (acts[order[index] as number] as () => Promise<unknown>)())
        const of = (act: number): unknown => results[order.indexOf(act)]
        const shown = (await operator.show(id)) as { state: string; decision: { by: string } | null }
        // The recovery's request may have found the key free, and then started the next run.
        if (of(0) === true) t.ok(['free', 'running'].includes(shown.state), shown.state)
        else t.equal(shown.state, 'done')
        const winner = of(2) === true ? undefined : of(0) === true ? 'Ana' : 'recover'
        t.equal(shown.decision?.by, winner)
        t.notOk(of(0) === true && of(2) === true, 'not both')
      }
    })

    await t.test('keeps a response as long as the hosts do, also if its clock is behind', async t => {
      const retentionMs = 7 * DAY_MS
      const { storage, clock, host, begin: start } = await setUp(t, open)
      const claim = await start('a')
      await host.complete(claim, response(500))
      const slow = manualClock(clock.now() - 90_000_000)
      const operator = createLostRuns({ storage, clock: slow, retentionMs })
      t.ok(await operator.resolve(`${claim.storageKey}.${claim.fence}`, NOTE))
      // The decision has the next fence, which is 1 ms later.
      clock.advance(retentionMs)
      const begin = () =>
        createIdempotency({ storage, clock, timer: stillTimer }).begin(write({ key: 'key-a-0001' }))
      t.match(await begin(), { value: { state: 'replay' } })
      clock.advance(1)
      t.match(await begin(), { value: { state: 'started' } })
    })
  })
}

await t.test('a run whose hold cannot be ended is lost again at once, and can be decided again', async t => {
  const { clock, host, operator, begin, storage } = await setUp(
    t,
    STORES['memory'] as () => Promise<OpenStore>,
    {
      endHolds: async () => {
        throw new Fault('ERR_STORE_UNAVAILABLE', 'down')
      },
    },
  )
  const claim = await begin('a')
  clock.advance(LEASE_MS)
  await t.rejects(operator.release(`${claim.storageKey}.${claim.fence}`, NOTE), {
    code: 'ERR_STORE_UNAVAILABLE',
  })
  const [run] = (await operator.list()).runs as [ListedLostRun]
  t.equal(run.leaseEndedAt, null)
  t.ok(run.fence > claim.fence)
  t.equal(run.beganAt, clock.now() - LEASE_MS)
  t.match(await host.begin(write({ key: 'key-a-0001' })), { code: 'outcome_unknown' })
  t.equal(await createLostRuns({ storage, clock }).release(run.id, NOTE), true)
})

await t.test(
  'while somebody decides, retries are in progress; a decision that never ends is lost again',
  async t => {
    const clock = manualClock()
    const storage = memoryIdempotency()
    const host = createIdempotency({ storage, clock, timer: stillTimer, waitMs: 0 })
    let release = (): void => {}
    const operator = createLostRuns({
      storage,
      clock,
      leaseMs: 5000,
      endHolds: () =>
        new Promise(resolve => {
          release = resolve
        }),
    })
    const begun = await host.begin(write())
    if (!begun.ok || begun.value.state !== 'started') throw new Error('not started')
    const { storageKey, fence } = begun.value.claim
    clock.advance(LEASE_MS)
    const deciding = operator.resolve(`${storageKey}.${fence}`, NOTE)
    await new Promise(resolve => setImmediate(resolve))
    t.match(await host.begin(write()), { code: 'request_in_progress' })
    clock.advance(5000)
    t.match(await host.begin(write()), { code: 'outcome_unknown' })
    const [run] = (await operator.list()).runs as [ListedLostRun]
    t.equal(await createLostRuns({ storage, clock }).release(run.id, { by: 'Bo', reason: 'r' }), true)
    release()
    t.equal(await deciding, false, 'the first operator was too late')
    t.match(await operator.show(run.id), { state: 'free', decision: { by: 'Bo' } })
  },
)

await t.test('records what the option recover decided', async t => {
  for (const state of ['completed', 'never_happened'] as const) {
    const clock = manualClock()
    const storage = memoryIdempotency()
    const recover = async () => ({ state, response: response(201) })
    const host = createIdempotency({ storage, clock, timer: stillTimer, recover })
    await host.begin(write())
    clock.advance(LEASE_MS)
    const [run] = (await createLostRuns({ storage, clock }).list()).runs as [ListedLostRun]
    await host.begin(write())
    const outcome = state === 'completed' ? 'took_effect' : 'never_happened'
    const decision = { outcome, by: 'recover', at: clock.now() }
    t.match(await createLostRuns({ storage, clock }).show(run.id), { decision })
  }
})

await t.test('cuts long labels, and finds them by the long account', async t => {
  const { clock, operator, begin } = await setUp(t, STORES['memory'] as () => Promise<OpenStore>)
  const account = `${'x'.repeat(600)}\0`
  await begin('a', { account, operation: 'o\0\ud800' })
  clock.advance(LEASE_MS)
  const { runs } = await operator.list({ account })
  t.match(runs, [{ account: 'x'.repeat(512), operation: 'o\ufffd\ufffd' }])
})

await t.test('refuses wrong options, limits, cursors, notes and responses', async t => {
  const wrong = { name: 'TypeError' }
  const storage = memoryIdempotency()
  t.throws(() => createLostRuns({ storage, tabel: 'x' } as never), { message: /tabel/, ...wrong })
  t.throws(() => createLostRuns({ storage, retentionMs: 59_999 }), { message: /retentionMs/, ...wrong })
  t.throws(() => createLostRuns({} as never), { message: /storage/, ...wrong })
  const operator = createLostRuns({ storage })
  for (const limit of [0, 1001, 1.5])
    await t.rejects(operator.list({ limit }), { message: /limit/, ...wrong })
  await t.rejects(operator.list({ after: 'x' }), { message: /after/, ...wrong })
  for (const note of [
    { reason: 'r' },
    { by: ' ', reason: 'r' },
    { by: 'x'.repeat(201), reason: 'r' },
    { by: 'Ana\0', reason: 'r' },
  ])
    await t.rejects(operator.release('a.1', note as never), { message: /by must be/, ...wrong })
  await t.rejects(operator.resolve('a.1', { by: 'Ana', reason: 'x'.repeat(1001) }), {
    message: /reason/,
    ...wrong,
  })
  for (const status of [400, 503])
    await t.rejects(operator.resolve('a.1', { response: response(status), ...NOTE }), {
      message: /final status/,
      ...wrong,
    })
})
