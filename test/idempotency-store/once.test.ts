// Jobs of queues, cron and functions run once, over the records of requests.
import { createIdempotency, createLostRuns, createOnce, onceResponse } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { migrateIdempotency, postgresIdempotency } from '@gatewright/idempotency-store/postgres'
import { redisIdempotency } from '@gatewright/idempotency-store/redis'
import { Fault, keyDigest, nothingHappened } from '@gatewright/kernel'
import { manualClock, race } from '@gatewright/kernel/testing'
import t from 'tap'
import { openPostgres, openRedis, uniqueName } from '../harness/stores.ts'
import { instantTimer, stillTimer, write } from './support.ts'

const JOB = { operation: 'invoices.send', account: 'acc_1', key: 'message 7/ä\0\n' }

function setUp(options: Partial<Parameters<typeof createIdempotency>[0]> = {}) {
  const clock = manualClock()
  const storage = memoryIdempotency()
  const make = () => createIdempotency({ storage, clock, timer: stillTimer, waitMs: 0, ...options })
  return { clock, storage, make, once: createOnce(make()) }
}

await t.test('runs a job once, and returns its value to repeats, also on another host', async t => {
  const { make, once } = setUp()
  let runs = 0
  const send = async ({ effectId, fence }: { effectId: string; fence: number }) => {
    runs++
    return { effectId, fence, at: new Date(0), left: undefined }
  }
  const first = await once(JOB, send)
  t.match(first, { state: 'done', repeated: false, value: { at: '1970-01-01T00:00:00.000Z' } })
  if (first.state !== 'done') throw new Error(first.state)
  for (const each of [once, createOnce(make())])
    t.same(await each(JOB, send), { state: 'done', repeated: true, value: first.value })
  t.equal(runs, 1)
})

await t.test('returns every JSON value unchanged, and undefined', async t => {
  const { once } = setUp()
  for (const [index, value] of [null, 0, '', 'é', [], { a: [1] }, false, undefined].entries()) {
    const job = { ...JOB, key: `${index}` }
    for (const repeated of [false, true])
      t.same(await once(job, () => value), { state: 'done', value, repeated })
  }
})

await t.test('a key with another payload is a conflict, and runs nothing', async t => {
  const { once } = setUp()
  let runs = 0
  const count = () => ++runs
  const done = { state: 'done', value: 1 }
  t.match(await once({ ...JOB, payload: '{"cents":500,"to":"a"}' }, count), { ...done, repeated: false })
  for (const payload of ['{"cents":500,"to":"a"}', new TextEncoder().encode('{"cents":500,"to":"a"}')])
    t.match(await once({ ...JOB, payload }, count), { ...done, repeated: true })
  for (const payload of ['{"cents":501,"to":"a"}', '{"cents":500}', '', 'not JSON', new Uint8Array(1)])
    t.same(await once({ ...JOB, payload }, count), { state: 'conflict' })
  t.equal(runs, 1)
})

await t.test('keeps operations, accounts, keys and requests apart', async t => {
  const { make } = setUp()
  const idempotency = make()
  const once = createOnce(idempotency)
  let runs = 0
  const count = () => ++runs
  await once(JOB, count)
  for (const change of [
    { operation: 'other' },
    { account: 'acc_2' },
    { key: 'message 7/ä\0' },
    { key: '\ud800' },
    { key: '\ud801' },
    { key: 'x'.repeat(4096) },
    { key: `${'x'.repeat(4095)}y` },
  ])
    t.match(await once({ ...JOB, ...change }, count), { repeated: false })
  t.equal(runs, 8)
  const request = await idempotency.begin(write({ ...JOB, key: 'message-7' }))
  t.match(request, { ok: true, value: { state: 'started' } })
})

await t.test('runs one of 30 simultaneous calls over separate connections to Postgres and Redis', async t => {
  const postgres = await openPostgres(3, migrateIdempotency)
  const redis = await openRedis(3)
  t.teardown(postgres.close)
  t.teardown(redis.close)
  const prefix = uniqueName()
  for (const storages of [
    postgres.connections.map(db => postgresIdempotency(db)),
    redis.connections.map(client => redisIdempotency(client, { prefix })),
  ]) {
    let runs = 0
    const hosts = storages.map(storage => createOnce(createIdempotency({ storage })))
    const results = await race(30, index => hosts[index % 3]!(JOB, async () => `run ${++runs}`))
    t.equal(runs, 1)
    t.equal(results.filter(each => each.state === 'done' && !each.repeated).length, 1)
    for (const each of results) t.match(each, { state: 'done', value: 'run 1' })
  }
})

await t.test('says that another call runs it, and what is unknown', async t => {
  const { clock, make, once } = setUp()
  let end = (_value: string): void => {}
  const running = once(JOB, () => new Promise<string>(resolve => (end = resolve)))
  await new Promise(resolve => setImmediate(resolve))
  const never = () => t.fail('ran again') as never
  const other = createOnce(make())
  t.same(await other(JOB, never), { state: 'running' })
  clock.advance(60_000)
  t.match(await other(JOB, never), { state: 'unknown', effectId: /^[\w-]{43}$/ })
  end('late')
  t.match(await running, { state: 'done', value: 'late' }, 'nobody has decided meanwhile')
  t.match(await other(JOB, never), { state: 'done', value: 'late', repeated: true })
})

await t.test('throws a fault to a job that ends after somebody has decided', async t => {
  const { clock, storage, once } = setUp()
  let end = (): void => {}
  const running = once(JOB, () => new Promise<void>(resolve => (end = resolve)))
  await new Promise(resolve => setImmediate(resolve))
  clock.advance(60_000)
  const operator = createLostRuns({ storage, clock })
  const [run] = (await operator.list({ account: 'acc_1' })).runs
  t.match(run, { operation: 'invoices.send', account: 'acc_1' })
  await operator.release(run?.id ?? '', { by: 'Ana', reason: 'r' })
  end()
  await t.rejects(running, { name: 'Fault', code: 'ERR_LEASE_LOST' })
  t.match(await once(JOB, () => 'again'), { state: 'done', value: 'again', repeated: false })
})

await t.test('rethrows an error, after which the outcome is unknown until somebody decides', async t => {
  const { storage, clock, make } = setUp()
  const once = createOnce(make())
  const error = new Error('timed out')
  await t.rejects(
    once(JOB, () => {
      throw error
    }),
    error,
  )
  const never = () => t.fail('ran again') as never
  t.match(await once(JOB, never), { state: 'unknown' })
  const operator = createLostRuns({ storage, clock })
  const [run] = (await operator.list()).runs
  await operator.resolve(run?.id ?? '', { by: 'Ana', reason: 'r', response: onceResponse({ id: 7 }) })
  t.same(await once(JOB, never), { state: 'done', value: { id: 7 }, repeated: true })
})

await t.test('runs again after an error that the team marked as thrown before any effect', async t => {
  const { once } = setUp()
  const error = nothingHappened(new Error('no stock'))
  await t.rejects(
    once(JOB, async () => {
      throw error
    }),
    error,
  )
  t.match(await once(JOB, () => 'sent'), { state: 'done', value: 'sent', repeated: false })
})

await t.test('has ended the run in the store when it rethrows an error', async t => {
  for (const error of [new Error('timeout'), nothingHappened(new Error('no stock'))]) {
    const memory = memoryIdempotency()
    let ended = false
    const storage: typeof memory = {
      ...memory,
      async end(...args) {
        await new Promise(resolve => setImmediate(resolve))
        ended = await memory.end(...args)
        return ended
      },
    }
    await t.rejects(
      setUp({ storage }).once(JOB, () => Promise.reject(error)),
      error,
    )
    t.equal(ended, true)
  }
})

await t.test('recovers a lost job by the option recover', async t => {
  const { once, clock } = setUp({
    recover: async ({ operation, account }) => ({
      state: 'completed',
      response: onceResponse(`${operation} ${account}`),
    }),
  })
  await t.rejects(
    once(JOB, () => Promise.reject(new Error('x'))),
    /x/,
  )
  clock.advance(1)
  const never = () => t.fail('ran again') as never
  t.same(await once(JOB, never), { state: 'done', value: 'invoices.send acc_1', repeated: true })
})

await t.test(
  'says that a value was not stored, because it is too large or an operator gave none',
  async t => {
    const { once, storage, clock, make } = setUp({ maxResponseBytes: 10 })
    const value = 'x'.repeat(20)
    t.same(await once(JOB, () => value), { state: 'done', value, repeated: false })
    t.same(await once(JOB, () => value), { state: 'done_without_value' })
    const other = { ...JOB, key: 'other' }
    await t.rejects(once(other, () => Promise.reject(new Error('x'))))
    const operator = createLostRuns({ storage, clock })
    const [run] = (await operator.list()).runs
    await operator.resolve(run?.id ?? '', { by: 'Ana', reason: 'r' })
    t.same(await createOnce(make())(other, () => value), { state: 'done_without_value' })
    const text = { ...JOB, key: 'text' }
    await t.rejects(once(text, () => Promise.reject(new Error('x'))))
    const [next] = (await operator.list()).runs
    const response = { status: 201, headers: [], body: 'sent' }
    await operator.resolve(next?.id ?? '', { by: 'Ana', reason: 'r', response })
    t.same(await once(text, () => value), { state: 'done_without_value' })
  },
)

await t.test(
  'leaves the outcome unknown if the value is not JSON, because the effect may have happened',
  async t => {
    const { once } = setUp()
    for (const [key, value] of Object.entries({ bigint: 1n, function: () => 1, symbol: Symbol('x') })) {
      await t.rejects(
        once({ ...JOB, key }, () => value as unknown),
        { name: 'TypeError' },
      )
      t.match(await once({ ...JOB, key }, () => 1), { state: 'unknown' })
    }
  },
)

await t.test('throws the fault of a store that fails, and runs nothing that it could not record', async t => {
  const clock = manualClock()
  const inner = memoryIdempotency()
  const broken = { begin: true, end: false }
  const fault = new Fault('ERR_STORE_UNAVAILABLE', 'down')
  const storage: typeof inner = {
    ...inner,
    begin: async (...args) => (broken.begin ? Promise.reject(fault) : inner.begin(...args)),
    end: async (...args) => (broken.end ? Promise.reject(fault) : inner.end(...args)),
  }
  const once = createOnce(createIdempotency({ storage, clock, timer: instantTimer(clock), waitMs: 0 }))
  const never = () => t.fail('ran') as never
  await t.rejects(once(JOB, never), fault)
  broken.begin = false
  broken.end = true
  await t.rejects(
    once(JOB, () => 1),
    fault,
  )
  const error = new Error('the job failed')
  await t.rejects(
    once({ ...JOB, key: '2' }, () => Promise.reject(error)),
    error,
  )
  broken.end = false
  clock.advance(60_000)
  t.match(await once(JOB, never), { state: 'unknown' })
})

await t.test('says that a request of the same operation has the key of a job', async t => {
  const { make, once } = setUp()
  await make().begin(write({ ...JOB, key: keyDigest(`once ${JOB.key}`) }))
  const never = () => t.fail('ran') as never
  await t.rejects(once(JOB, never), {
    name: 'TypeError',
    message: /a request of the operation invoices\.send has the key of this job/,
  })
})

await t.test('refuses texts that are missing, empty or too long, before anything runs', async t => {
  const { once } = setUp()
  const never = () => t.fail('ran') as never
  for (const change of [
    { key: '' },
    { key: 'x'.repeat(4097) },
    { key: undefined },
    { account: '' },
    { account: 'x'.repeat(4097) },
    { operation: 7 },
    { operation: 'x'.repeat(201) },
  ]) {
    const [name] = Object.keys(change)
    await t.rejects(once({ ...JOB, ...change } as never, never), {
      name: 'TypeError',
      message: new RegExp(`^once: ${name} must be a text of 1 to`),
    })
  }
  t.throws(() => createOnce({} as never), { name: 'TypeError', message: /createOnce: idempotency/ })
})
