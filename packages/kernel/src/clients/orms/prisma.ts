import type { SqlRow } from '../sql-client.ts'
import { createOrmClient, type OrmClient, type OrmOptions, type RunStatement } from './orm-client.ts'

/** The part of a client of Prisma, and of its transaction, that is used. */
interface PrismaQueries {
  $queryRawUnsafe(text: string, ...values: never[]): PromiseLike<unknown>
}

/**
 * Makes a client over Prisma on Postgres: a handler's transaction is a `Prisma.TransactionClient`. Prisma ends a transaction after five
 * seconds: set `transactionOptions` of its constructor to more than your handlers need. A use of the root client inside a run is not
 * detected.
 */
export function fromPrisma<Tx extends PrismaQueries>(
  prisma: PrismaQueries & { $transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> },
  options: OrmOptions = {},
): OrmClient<Tx> {
  const on =
    (queries: PrismaQueries): RunStatement =>
    async (text, values) => ({
      rows: (await queries.$queryRawUnsafe(text, ...(values as readonly never[]))) as readonly SqlRow[],
    })
  return createOrmClient<Tx>(
    {
      name: 'fromPrisma',
      dialect: 'postgres',
      run: on(prisma),
      runIn: on,
      transaction: work => prisma.$transaction(work),
      root: [],
    },
    options,
  )
}
