import {
  createTransactionalIdempotency,
  type TransactionalOptions,
} from '@gatewright/idempotency-store/transactional'
import { migrateIdempotency, postgresTransactionalIdempotency } from '@gatewright/idempotency-store/postgres'
import { fromPgPool, rows } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import t, { type Test } from 'tap'
import { openPostgresPool, uniqueName } from '../../harness/stores.ts'
import { instantTimer, response, stillTimer, write } from '../support.ts'

/** Opens an idempotency on Postgres. `stop` holds back the handlers of an account until it is called again. */
async function setUp(t: Test, options: Partial<TransactionalOptions>) {
  const schema = uniqueName()
  const pool = await openPostgresPool(schema, 8)
  t.teardown(async () => {
    await pool.query(`drop schema ${schema} cascade`)
    await pool.end()
  })
  const db = fromPgPool(pool)
  await migrateIdempotency(db)
  const idempotency = createTransactionalIdempotency({
    db,
    storage: tx => postgresTransactionalIdempotency(tx),
    timer: stillTimer,
    ...options,
  })
  const running = new Map<string, number>()
  const most = new Map<string, number>()
  const order: string[] = []
  const held: { release?: () => void; until: Promise<void> } = { until: Promise.resolve() }
  let keys = 0
  return {
    pool,
    db,
    idempotency,
    most,
    order,
    /** Makes the handlers that start from now on wait until the returned function is called. */
    hold(): () => void {
      let release = (): void => {}
      held.until = new Promise<void>(resolve => {
        release = resolve
      })
      return release
    },
    run(account: string, status = 201, key = `key-${String((keys += 1)).padStart(8, '0')}`) {
      return idempotency.run(write({ account, key }), async tx => {
        order.push(key)
        const now = (running.get(account) ?? 0) + 1
        running.set(account, now)
        most.set(account, Math.max(most.get(account) ?? 0, now))
        await held.until
        await rows(tx, 'select 1')
        running.set(account, (running.get(account) ?? 1) - 1)
        if (status === 0) throw new Error('the handler failed')
        return response(status)
      })
    },
    records: async () => toInteger((await rows(db, 'select count(*) as n from gw_idempotency'))[0]?.['n']),
    /** Waits until so many handlers have started. */
    async started(count: number): Promise<void> {
      while (order.length < count) await new Promise(resolve => setImmediate(resolve))
    },
  }
}

t.test(
  'runs at most so many transactions of one account at once, in the order of their requests',
  async t => {
    for (const maxTransactionsPerAccount of [1, 2]) {
      const { run, most, order, hold, started } = await setUp(t, { maxTransactionsPerAccount })
      const release = hold()
      const runs = Promise.all(Array.from({ length: 20 }, () => run('ann')))
      await started(maxTransactionsPerAccount)
      release()
      const results = await runs
      t.ok(results.every(({ ok }) => ok))
      t.equal(most.get('ann'), maxTransactionsPerAccount)
      if (maxTransactionsPerAccount === 1) t.same(order, [...order].sort())
    }
  },
)

t.test('counts what still runs when one of several transactions of an account ends', async t => {
  const { run, hold, started, order, most } = await setUp(t, { maxTransactionsPerAccount: 2 })
  const releaseFirst = hold()
  const first = run('ann')
  await started(1)
  const releaseOthers = hold()
  const others = [run('ann')]
  await started(2)
  releaseFirst()
  await first
  others.push(run('ann'), run('ann'))
  await started(3)
  const bob = run('bob')
  await started(4)
  t.equal(order.length, 4, 'one more of ann, and bob')
  releaseOthers()
  await Promise.all([...others, bob])
  t.equal(most.get('ann'), 2)
})

t.test('never lets an account wait for another, and leaves it a connection', async t => {
  const { run, hold, started, order } = await setUp(t, { maxTransactionsPerAccount: 1 })
  const release = hold()
  const busy = Array.from({ length: 30 }, () => run('ann'))
  await started(1)
  const others = [run('bob'), run('cy')]
  await started(3)
  t.equal(order.length, 3)
  release()
  for (const result of await Promise.all([...busy, ...others])) t.match(result, { ok: true })
})

t.test('denies a write that gets no turn in time, and stores and starts nothing', async t => {
  const timer = instantTimer()
  const { run, hold, started, records, order } = await setUp(t, {
    maxTransactionsPerAccount: 1,
    timer,
    waitMs: 1000,
  })
  const release = hold()
  const first = run('ann')
  await started(1)
  t.match(await run('ann', 201, 'key-denied-1'), {
    ok: false,
    code: 'request_in_progress',
    status: 429,
    retryAfterSeconds: 1,
  })
  t.same(timer.slept, [1000])
  t.same(order, ['key-00000001'])
  release()
  t.match(await first, { ok: true })
  t.equal(await records(), 1)
  t.match(await run('ann', 201, 'key-denied-1'), { ok: true, value: { replayed: false } })
})

t.test(
  'bounds how many wait, and gives an account with fewer waiting writes the place of another',
  async t => {
    const { run, hold, started } = await setUp(t, { maxTransactionsPerAccount: 1, maxWaiters: 3 })
    const release = hold()
    const running = [run('ann'), run('bob')]
    await started(2)
    const [first, second, third, fourth] = [run('ann'), run('ann'), run('ann'), run('ann')]
    t.match(await fourth, { ok: false, code: 'request_in_progress' })
    const neighbour = run('bob')
    t.match(await third, { ok: false, code: 'request_in_progress' })
    release()
    for (const result of await Promise.all([...running, first, second, neighbour]))
      t.match(result, { ok: true })
  },
)

t.test(
  'passes the turn on after a handler that throws, a response that is not final and a dead connection',
  async t => {
    const { run, pool, hold, started } = await setUp(t, { maxTransactionsPerAccount: 1 })
    await t.rejects(run('ann', 0), /the handler failed/)
    t.match(await run('ann', 503), { ok: true, value: { expiresAt: null } })
    const release = hold()
    const lost = run('ann')
    await started(3)
    const next = run('ann')
    await pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
      where state = 'idle in transaction' and pid <> pg_backend_pid() and query like '%gw_idempotency%'`,
    )
    release()
    await t.rejects(lost, { code: 'ERR_STORE_UNAVAILABLE' })
    t.match(await next, { ok: true })
  },
)

t.test('a run inside a handler throws, and waits for no turn', async t => {
  const timer = instantTimer()
  const { idempotency, run } = await setUp(t, { maxTransactionsPerAccount: 1, timer })
  const never = () => t.fail('ran') as never
  const outer = idempotency.run(write({ key: 'key-outer' }), async () => {
    const inner = await idempotency.run(write({ key: 'key-inner' }), never)
    return response(inner.ok ? 201 : 409)
  })
  await t.rejects(outer, { name: 'Fault', code: 'ERR_OUTSIDE_TRANSACTION' })
  t.same(timer.slept, [])
  t.match(await run(write().account), { ok: true })
})

t.test('duplicates of a write that got no turn decide for themselves', async t => {
  const { run, hold, started } = await setUp(t, { maxTransactionsPerAccount: 1, maxWaiters: 2 })
  const release = hold()
  const first = run('ann')
  await started(1)
  const leader = run('ann', 201, 'key-same-0001')
  const duplicate = run('ann', 201, 'key-same-0001')
  release()
  t.match(await first, { ok: true })
  t.match(await leader, { ok: true, value: { replayed: false } })
  t.match(await duplicate, { ok: true, value: { replayed: true } })
})

t.test('refuses a limit outside its bounds', async t => {
  for (const maxTransactionsPerAccount of [0, 1001, 1.5, NaN]) {
    const made = setUp(t, { maxTransactionsPerAccount })
    await t.rejects(made, {
      name: 'TypeError',
      message: /maxTransactionsPerAccount must be an integer from 1 to 1000/,
    })
  }
})

type AccountTurnsModule = typeof import('../../../packages/idempotency-store/dist/execution/account-turns.js')

t.test('a wait that throws takes no turn away, whether its turn had come or not', async t => {
  const { createAccountTurns } = (await import(
    `${process.cwd()}/packages/idempotency-store/dist/execution/account-turns.js`
  )) as AccountTurnsModule
  for (const hasTurn of [false, true]) {
    const turns = createAccountTurns(1)
    let release = (): void => {}
    const first = turns.run(
      'ann',
      () => Promise.resolve(),
      () => new Promise<void>(resolve => (release = resolve)),
    )
    const failing = turns.run(
      'ann',
      async turn => {
        if (hasTurn) await turn
        throw new Error('no timer')
      },
      async () => 'never started',
    )
    if (hasTurn) release()
    await t.rejects(failing, { message: 'no timer' })
    release()
    await first
    t.equal(
      await turns.run(
        'ann',
        () => Promise.resolve(),
        async () => 'ran',
      ),
      'ran',
      `its turn had ${hasTurn ? '' : 'not '}come`,
    )
  }
})
