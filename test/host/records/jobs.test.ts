import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import type { SqlDialect } from '@gatewright/kernel/internal/sql'
import { manualClock, type ManualClock } from '@gatewright/kernel/testing'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import * as internals from '../../harness/internals.ts'
import { openPostgres, openSqlite } from '../../harness/stores.ts'

const { jobQueue, migrateHost, JOB_LEASE_MS } = internals
type Handler = Parameters<typeof jobQueue>[0]['handlers'][string]
const KIND = 'test.call'
const keyOf = (subjectId: string) => ({ kind: KIND, accountId: `acc_${subjectId}`, subjectId })
const signal = new AbortController().signal

interface World {
  readonly clock: ManualClock
  readonly db: SqlClient
  readonly failures: unknown[]
  /** A worker with a connection of its own. */
  worker(at: number, handler: Handler): ReturnType<typeof jobQueue>
  /** Adds a job as a write does. */
  add(id: string): Promise<void>
  done(): Promise<string[]>
}

async function setUp(t: Test, dialect: SqlDialect): Promise<World> {
  const open = dialect === 'postgres' ? openPostgres : openSqlite
  // Workers on SQLite share the host's one connection.
  const { connections, close } = await open(dialect === 'postgres' ? 2 : 1, async db => {
    await migrateHost(db)
    await db.query('create table done (id text not null)', [])
  })
  t.teardown(close)
  const clock = manualClock()
  const failures: unknown[] = []
  const [db] = connections as [SqlClient]
  const worker: World['worker'] = (at, handler) =>
    jobQueue({
      db: connections[at % connections.length] as SqlClient,
      clock,
      handlers: { [KIND]: handler },
      report: error => failures.push(error),
    })
  const adding = worker(0, async () => 'again')
  return {
    clock,
    db,
    failures,
    worker,
    add: id => db.transaction(tx => adding.add(tx, keyOf(id), clock.now())),
    done: async () => (await rows(db, 'select id from done order by id')).map(row => String(row['id'])),
  }
}

/** Commits that the call of a job was made. */
const record =
  (id: string) =>
  async (tx: SqlQueries): Promise<void> => {
    await rows(tx, 'insert into done (id) values ($1)', [id])
  }
const DIALECTS: readonly SqlDialect[] = ['sqlite', 'postgres']

for (const dialect of DIALECTS) {
  const test = (title: string, run: (t: Test, world: World) => Promise<void>): void =>
    void t.test(`${title}, on ${dialect}`, async t => run(t, await setUp(t, dialect)))

  test('commits the outcome with the end of the job, and nothing when the write rolls back', async (t, world) => {
    const { db, add, done, worker, clock } = world
    const queue = worker(0, async ({ subjectId: id }) => record(id))
    await add('one')
    const undone = db.transaction(async tx => {
      await queue.add(tx, keyOf('two'), clock.now())
      throw new Error('rolled back')
    })
    await t.rejects(undone)
    t.match(await queue.list(10), [{ kind: KIND, subjectId: 'one', attempts: 0 }])
    t.equal(await queue.runDue(KIND, 10, signal), 1)
    t.same(await done(), ['one'])
    t.same(await queue.list(10), [])
  })

  test('gives each of 40 jobs to one of two workers that run at once', async (t, { add, done, worker }) => {
    const ids = Array.from({ length: 40 }, (_, n) => `job-${n}`)
    for (const id of ids) await add(id)
    const calls: string[] = []
    const handler: Handler = async ({ subjectId: id }) => {
      calls.push(id)
      return record(id)
    }
    const [one, two] = [worker(0, handler), worker(1, handler)]
    const rounds = [one, two, one, two].map(queue => queue.runDue(KIND, 20, signal))
    while ((await Promise.all(rounds.splice(0))).some(count => count > 0))
      rounds.push(one.runDue(KIND, 20, signal), two.runDue(KIND, 20, signal))
    t.same(calls.toSorted(), ids.toSorted(), 'no job was called twice')
    t.same(await done(), ids.toSorted())
  })

  test('a job that a worker runs is not given to another by a retry or by adding it again', async (t, world) => {
    const { clock, add, done, worker } = world
    await add('one')
    let finish = (): void => {}
    const held = new Promise<void>(resolve => {
      finish = resolve
    })
    const first = worker(0, async ({ subjectId: id }) => {
      await held
      return record(id)
    })
    const running = first.runDue(KIND, 1, signal)
    while ((await first.list(1))[0]?.attempts !== 1) await turn()
    const second = worker(1, async ({ subjectId: id }) => record(`again ${id}`))
    t.equal(await second.retry(KIND, 'one'), true)
    await add('one')
    clock.advance(JOB_LEASE_MS - 1)
    t.equal(await second.runDue(KIND, 1, signal), 0)
    finish()
    await running
    t.same(await done(), ['one'])
  })

  test('counts waiting jobs by kind, with the oldest', async (t, { clock, add, worker }) => {
    const queue = worker(0, async ({ subjectId: id }) => record(id))
    t.same(await queue.waiting(), [])
    const oldestAt = clock.now()
    await add('one')
    clock.advance(1000)
    await add('two')
    t.same(await queue.waiting(), [{ kind: KIND, jobs: 2, oldestAt }])
  })

  test('drained waits for a job that was started at once, until its outcome is committed', async (t, world) => {
    const { add, done, worker } = world
    await add('one')
    let finish = (): void => {}
    const held = new Promise<void>(resolve => {
      finish = resolve
    })
    const queue = worker(0, async ({ subjectId: id }) => {
      await held
      return record(id)
    })
    void queue.runNow(keyOf('one'))
    const drained = queue.drained()
    t.same(await done(), [])
    finish()
    await drained
    t.same(await done(), ['one'])
    await queue.drained()
  })

  test('leaves a leased job alone until its lease ends, and refuses the worker that came too late', async (t, world) => {
    const { clock, add, done, worker, failures } = world
    await add('slow')
    let finish = (): void => {}
    const held = new Promise<void>(resolve => {
      finish = resolve
    })
    const late = worker(0, async ({ subjectId: id }) => {
      await held
      return record(`late ${id}`)
    })
    const running = late.runDue(KIND, 1, signal)
    while ((await late.list(1))[0]?.attempts !== 1) await turn()
    const next = worker(1, async ({ subjectId: id }) => record(id))
    clock.advance(JOB_LEASE_MS - 1)
    t.equal(await next.runDue(KIND, 1, signal), 0)
    clock.advance(1)
    t.equal(await next.runDue(KIND, 1, signal), 1)
    finish()
    await running
    t.same(await done(), ['slow'], 'what the late worker wrote was rolled back')
    t.match(failures, [{ message: /was leased by another worker/ }])
  })

  test('tries again after 5 s, 30 s, 1 min, then every 10 min, whether it failed or is not final', async (t, world) => {
    const { clock, add, worker, failures } = world
    await add('never')
    let calls = 0
    const queue = worker(0, async () => {
      calls += 1
      if (calls % 3 === 0) throw new Error('the provider is down')
      return calls % 3 === 1 ? 'again' : async () => 'again'
    })
    for (const [tried, waitMs] of [5_000, 30_000, 60_000, 600_000, 600_000].entries()) {
      t.equal(await queue.runDue(KIND, 1, signal), 1, `try ${tried + 1}`)
      clock.advance(waitMs - 1)
      t.equal(await queue.runDue(KIND, 1, signal), 0, `not before ${waitMs} ms`)
      clock.advance(1)
    }
    t.match(failures, [{ message: 'the provider is down' }])
    t.match(await queue.list(1), [{ attempts: 5 }])
  })

  test('commits the outcome of a call that is not final, and keeps its job', async (t, {
    add,
    done,
    worker,
  }) => {
    await add('later')
    const queue = worker(0, async ({ subjectId: id }) => async tx => {
      await record(id)(tx)
      return 'again'
    })
    await queue.runNow(keyOf('later'))
    t.same(await done(), ['later'])
    t.match(await queue.list(1), [{ subjectId: 'later', attempts: 1 }])
  })

  test('a handler that fails does not hold up the other jobs of a round', async (t, world) => {
    const { add, done, worker, failures } = world
    for (const id of ['bad', 'good']) await add(id)
    const queue = worker(0, async ({ subjectId: id }) => {
      if (id === 'bad') throw new Error('broken')
      return record(id)
    })
    t.equal(await queue.runDue(KIND, 10, signal), 2)
    t.same(await done(), ['good'])
    t.match(failures, [{ message: 'broken' }])
    t.match(await queue.list(10), [{ subjectId: 'bad' }])
  })

  test('runs one job now, once, and makes a waiting one due on request', async (t, world) => {
    const { add, done, worker, clock } = world
    for (const id of ['now', 'other']) await add(id)
    const queue = worker(0, async ({ subjectId: id }) => record(id))
    await Promise.all([queue.runNow(keyOf('now')), queue.runNow(keyOf('now')), queue.runNow(keyOf('none'))])
    t.same(await done(), ['now'])
    await worker(1, async () => 'again').runNow(keyOf('other'))
    t.equal(await queue.runDue(KIND, 1, signal), 0, 'it waits')
    t.equal(await queue.retry(KIND, 'other'), true)
    t.equal(await queue.retry(KIND, 'none'), false)
    t.equal(await queue.runDue(KIND, 1, signal), 1)
    clock.advance(1)
    t.same(await done(), ['now', 'other'])
  })

  test('leaves jobs of an unknown kind to a newer host', async (t, { db, clock, worker }) => {
    const queue = worker(0, async ({ subjectId: id }) => record(id))
    await db.transaction(tx => queue.add(tx, { ...keyOf('x'), kind: 'of.tomorrow' }, clock.now()))
    t.equal(await queue.runDue('of.tomorrow', 10, signal), 0)
    t.match(await queue.list(10), [{ kind: 'of.tomorrow', attempts: 0 }])
  })
}
