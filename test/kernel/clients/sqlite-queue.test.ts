import { AsyncLocalStorage } from 'node:async_hooks'
import { fromSqlite, rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import Database from 'libsql'
import t from 'tap'

type Tap = Pick<typeof t, 'teardown'>
const realNow = performance.now
const unavailable = { name: 'Fault', code: 'ERR_STORE_UNAVAILABLE' }

/** A client over a database in memory with a table. */
interface Opened {
  readonly db: SqlClient
  readonly database: Database.Database
  /** What controls its transactions, and what callers learn, in order. */
  readonly order: string[]
  /** Moves the clock of the queue, which stands still otherwise: a slow machine would end a commit early. */
  readonly passMs: (ms: number) => void
}

async function open(tap: Tap, commitMs = 0): Promise<Opened> {
  let elapsedMs = 0
  performance.now = () => elapsedMs
  tap.teardown(() => {
    performance.now = realNow
  })
  const database = new Database(':memory:')
  tap.teardown(() => database.close())
  database.exec('pragma foreign_keys = on')
  database.exec('create table notes (id integer primary key)')
  database.exec('create table replies (note integer references notes (id) deferrable initially deferred)')
  database.exec('create table gone (id integer)')
  database.exec(
    `create trigger gone before insert on gone begin select raise(rollback, 'the disk is full'); end`,
  )
  const order: string[] = []
  const db = fromSqlite({
    prepare: text => database.prepare(text),
    exec(text) {
      order.push(text)
      if (text === 'commit') elapsedMs += commitMs
      return database.exec(text)
    },
    get inTransaction() {
      return database.inTransaction
    },
  })
  const passMs = (ms: number): void => {
    elapsedMs += ms
  }
  return { db, database, order, passMs }
}

const insert = (db: SqlQueries, id: number): Promise<unknown> =>
  rows(db, 'insert into notes (id) values ($1)', [id])
const ids = async (db: SqlQueries): Promise<unknown[]> =>
  (await rows(db, 'select id from notes order by id')).map(row => row['id'])
/** A transaction that only its commit refuses. */
const failAtCommit = (db: SqlClient): Promise<unknown> =>
  db.transaction(tx => rows(tx, 'insert into replies (note) values (99)'))
/** The errors of promises; undefined for those that resolve. */
const errorsOf = async (all: readonly Promise<unknown>[]): Promise<unknown[]> =>
  (await Promise.allSettled(all)).map(each => (each.status === 'rejected' ? each.reason : undefined))

t.test('commits transactions that wait at the same time together, and tells nobody before', async t => {
  const { db, order } = await open(t)
  const all = [1, 2, 3].map(async id => {
    await db.transaction(tx => insert(tx, id))
    order.push(`${id} is told`)
  })
  await Promise.all(all)
  const control = order.filter(text => !/savepoint|release/.test(text))
  t.same(control, ['begin immediate', 'commit', '1 is told', '2 is told', '3 is told'])
  t.same(await ids(db), [1, 2, 3])
})

t.test('lets further transactions join a commit for less than 2 ms', async t => {
  for (const [ms, commits] of [
    [1.9, 1],
    [2, 2],
  ] as const) {
    const { db, order, passMs } = await open(t)
    const slow = db.transaction(async tx => {
      await insert(tx, 1)
      passMs(ms)
    })
    await Promise.all([slow, db.transaction(tx => insert(tx, 2))])
    t.equal(order.filter(text => text === 'commit').length, commits, `after ${ms} ms`)
  }
})

t.test('lets them join for as long as the last commit took, and less than 10 ms', async t => {
  for (const [commitMs, ms, commits] of [
    [5, 4.9, 2],
    [5, 5, 3],
    [50, 9.9, 2],
    [50, 10, 3],
  ] as const) {
    const { db, order, passMs } = await open(t, commitMs)
    await db.transaction(tx => insert(tx, 1))
    const slow = db.transaction(async tx => {
      await insert(tx, 2)
      passMs(ms)
    })
    await Promise.all([slow, db.transaction(tx => insert(tx, 3))])
    t.equal(
      order.filter(text => text === 'commit').length,
      commits,
      `after ${ms} ms, a commit took ${commitMs}`,
    )
  }
})

t.test('rolls back only the rows of the transaction that rejects', async t => {
  const { db, order } = await open(t)
  const own = new Error('changed my mind')
  const all = [
    db.transaction(tx => insert(tx, 1)),
    db.transaction(async tx => {
      await insert(tx, 2)
      throw own
    }),
    db.transaction(async tx => {
      await insert(tx, 3)
      await insert(tx, 1)
    }),
    db.transaction(tx => insert(tx, 4)),
  ]
  const errors = await errorsOf(all)
  t.equal(errors[1], own)
  t.match(errors[2], unavailable)
  t.same([errors[0], errors[3]], [undefined, undefined])
  t.equal(order.filter(text => text === 'commit').length, 1)
  t.same(await ids(db), [1, 4])
})

t.test(
  'tells a rejection only after the commit, because it may depend on rows that are not committed',
  async t => {
    const { db, order } = await open(t)
    const first = db.transaction(tx => insert(tx, 1))
    const second = db
      .transaction(async tx => {
        t.same(await ids(tx), [1], 'a later transaction sees the rows of an earlier one')
        throw new Error('1 is taken')
      })
      .catch(() => order.push('the second is told'))
    await Promise.all([first, second])
    t.ok(order.indexOf('commit') < order.indexOf('the second is told'), order.join())
  },
)

t.test('fails all transactions of a commit that fails, and stores nothing of them', async t => {
  const { db } = await open(t)
  const first = db.transaction(tx => insert(tx, 1))
  const refused = db.transaction(async tx => {
    t.same(await ids(tx), [1])
    throw new Error('1 is taken')
  })
  const errors = await errorsOf([first, refused, failAtCommit(db)])
  for (const error of errors) t.match(error, unavailable)
  t.same(await ids(db), [])
  await db.transaction(tx => insert(tx, 2))
  t.same(await ids(db), [2], 'the next ones are not affected')
})

t.test(
  'fails all transactions when SQLite rolls them back, and runs no further statement of that one',
  async t => {
    const { db } = await open(t)
    const earlier = db.transaction(tx => insert(tx, 1))
    const careless = db.transaction(async tx => {
      await t.rejects(rows(tx, 'insert into gone values (1)'), unavailable)
      await t.rejects(insert(tx, 2), unavailable, 'it would be committed by itself')
    })
    const later = db.transaction(tx => insert(tx, 3))
    const [first, second, third] = await errorsOf([earlier, careless, later])
    t.match(first, unavailable)
    t.match(second, unavailable)
    t.equal(third, undefined, 'had not begun')
    t.same(await ids(db), [3])
  },
)

t.test(
  'rejects the first transaction of a commit that rejects or was rolled back, and commits the next ones',
  async t => {
    for (const work of [
      () => Promise.reject(new Error('changed my mind')),
      (tx: SqlQueries) => rows(tx, 'insert into gone values (1)').catch(() => 'all is well'),
    ]) {
      const { db, order } = await open(t)
      const first = db.transaction(async tx => {
        await insert(tx, 1)
        return work(tx)
      })
      const [failed, other, third] = await errorsOf([
        first,
        db.transaction(tx => insert(tx, 2)),
        db.transaction(tx => insert(tx, 3)),
      ])
      t.type(failed, Error)
      t.same([other, third], [undefined, undefined])
      t.same(await ids(db), [2, 3])
      t.equal(order.filter(text => text === 'commit').length, 1)
    }
  },
)

t.test('goes on after a failed statement that left the transaction open', async t => {
  const { db } = await open(t)
  await db.transaction(async tx => {
    await insert(tx, 1)
    await rows(tx, 'savepoint own')
    await t.rejects(insert(tx, 1), unavailable)
    await rows(tx, 'rollback to own')
    await insert(tx, 2)
  })
  t.same(await ids(db), [1, 2])
})

t.test(
  'runs a write outside a transaction in its place between transactions, with a commit of its own',
  async t => {
    const { db, order } = await open(t)
    await Promise.all([
      db.transaction(tx => insert(tx, 1)),
      insert(db, 2).then(() => order.push('2 is told')),
      db.transaction(async tx => t.same(await ids(tx), [1, 2])),
    ])
    const control = order.filter(text => !/savepoint|release/.test(text))
    const commit = ['begin immediate', 'commit']
    t.same(control, [...commit, ...commit, '2 is told', ...commit])
  },
)

t.test('fails only the transaction that cannot begin', async t => {
  const { db, database } = await open(t)
  database.exec('begin')
  const [first, second] = await errorsOf([
    db.transaction(tx => insert(tx, 1)),
    db.transaction(tx => insert(tx, 2)),
  ])
  t.match(first, unavailable)
  t.equal(second, undefined)
  t.same(await ids(db), [2])
})

t.test('runs each transaction in the async context of its caller', async t => {
  const { db } = await open(t)
  const caller = new AsyncLocalStorage<string>()
  const seen: unknown[] = []
  const see = async (): Promise<void> => void seen.push(caller.getStore())
  const transactionOf = (name: string): Promise<void> => caller.run(name, () => db.transaction(see))
  await Promise.all([transactionOf('one'), transactionOf('two'), db.transaction(see)])
  t.same(seen, ['one', 'two', undefined])
})

t.test('begins and commits in the async context of the first transaction of a commit', async t => {
  const caller = new AsyncLocalStorage<string>()
  const seen: string[] = []
  const database = new Database(':memory:')
  t.teardown(() => database.close())
  const db = fromSqlite({
    prepare: text => database.prepare(text),
    exec(text) {
      seen.push(`${text}: ${caller.getStore()}`)
      return database.exec(text)
    },
    get inTransaction() {
      return database.inTransaction
    },
  })
  // A statement of nobody's context goes first, and keeps the queue running.
  const first = rows(db, 'select 1')
  await caller.run('one', () => db.transaction(async tx => void (await rows(tx, 'select 1'))))
  await first
  t.match(seen[0], /^begin immediate: one$/)
  t.equal(seen.at(-1), 'commit: one')
})
