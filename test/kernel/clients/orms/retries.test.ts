import { fromKysely, fromPrisma } from '@gatewright/kernel/orms'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import t from 'tap'
import { openOrm, POSTGRES_ORMS } from '../../../harness/databases/orms.ts'

for (const name of Object.keys(POSTGRES_ORMS))
  t.test(
    `${name}: repeats a transaction whose conflict the ORM reports with an error of its own`,
    async t => {
      const { orms, close } = await openOrm(name, 1, 2, 1)
      t.teardown(close)
      const { db, pay, payOutside } = orms[0]!
      let attempts = 0
      const failing = async (id: string): Promise<void> => {
        await db.transaction(async tx => {
          attempts += 1
          await rows(tx, 'set transaction isolation level serializable')
          await rows(tx, 'select count(*) from payments')
          if (attempts === 1) {
            // Each of the two has read what the other one writes.
            await db.transaction(async other => {
              await rows(other, 'set transaction isolation level serializable')
              await rows(other, 'select count(*) from payments')
              await pay(db.ormTransaction(other), 'other')
            })
          }
          await pay(db.ormTransaction(tx), id)
        })
      }
      await failing('one')
      t.equal(attempts, 2)
      t.same(
        (await rows(db, 'select id from payments order by id')).map(row => row['id']),
        ['one', 'other'],
      )
      const error: unknown = await payOutside('one').then(
        () => undefined,
        (reason: unknown) => reason,
      )
      t.not((error as Error).name, 'Fault', 'an error of the team is left as it is')
    },
  )

/** A client of Prisma whose transactions fail with these errors, one after the other. */
function prismaFailing(errors: Error[]) {
  const statements: unknown[][] = []
  const tx = {
    $queryRawUnsafe: async (...statement: unknown[]) => {
      statements.push(statement)
      return [{ n: 1 }]
    },
  }
  const prisma = {
    ...tx,
    async $transaction<T>(work: (given: typeof tx) => Promise<T>): Promise<T> {
      const result = await work(tx)
      const error = errors.shift()
      if (error) throw error
      return result
    },
  }
  return { prisma, statements }
}

const prismaError = (code: string, meta: object): Error => Object.assign(new Error('prisma'), { code, meta })

t.test('Prisma: passes values one by one, and repeats what Postgres rolled back', async t => {
  const { prisma, statements } = prismaFailing([prismaError('P2010', { code: '40001' })])
  const db = fromPrisma(prisma, { retries: 1 })
  const work = (tx: SqlQueries) => rows(tx, 'select $1', [1])
  t.same(await db.transaction(work), [{ n: 1 }])
  t.same(statements, [
    ['select $1', 1],
    ['select $1', 1],
  ])
})

t.test('Prisma: does not repeat a commit whose outcome is unknown', async t => {
  const { prisma, statements } = prismaFailing([prismaError('P1017', {})])
  const db = fromPrisma(prisma, { retries: 3 })
  await t.rejects(
    db.transaction(tx => rows(tx, 'select 1')),
    { code: 'ERR_STORE_UNAVAILABLE' },
  )
  t.equal(statements.length, 1)
})

t.test('rejects a transaction of another client', async t => {
  const { orms, close } = await openOrm('Kysely', 1, 1)
  t.teardown(close)
  t.throws(() => orms[0]!.db.ormTransaction({} as SqlQueries), /this is not a transaction of this client/)
  t.throws(() => orms[0]!.db.queries({} as never), /has not begun this transaction/)
  t.throws(
    () => fromKysely({ withoutPlugins: () => ({}), getExecutor: () => ({}) } as never),
    /expected a function provideConnection/,
  )
})
