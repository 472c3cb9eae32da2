import type { SqlRow } from '../sql-client.ts'
import { fromTransaction, type OrmClient, type OrmOptions } from './orm-client.ts'

/** The part of a client of Prisma, and of its transaction, that is used. */
export interface PrismaQueries {
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
  return fromTransaction<Tx>(
    {
      name: 'fromPrisma',
      dialect: 'postgres',
      async run(text, values, tx) {
        const rows = await (tx ?? prisma).$queryRawUnsafe(text, ...(values as readonly never[]))
        return { rows: rows as readonly SqlRow[] }
      },
      transaction: work => prisma.$transaction(work),
    },
    options,
  )
}
