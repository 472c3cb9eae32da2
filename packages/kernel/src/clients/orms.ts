export { fromDrizzle } from './orms/drizzle.ts'
export { fromKysely } from './orms/kysely.ts'
export { fromLibsqlClient } from './orms/libsql-client.ts'
export { fromMysql2 } from './orms/mysql2.ts'
export { fromPostgresJs } from './orms/postgres-js.ts'
export { fromPrisma } from './orms/prisma.ts'
export { fromTypeOrm } from './orms/typeorm.ts'
export {
  fromTransaction,
  type OrmClient,
  type OrmOptions,
  type TransactionSource,
} from './orms/orm-client.ts'
export type { KyselyOptions, KyselyQueries } from './orms/kysely.ts'
export type { LibsqlQueries } from './orms/libsql-client.ts'
export type { Mysql2Connection, Mysql2Queries } from './orms/mysql2.ts'
export type { PostgresJs, PostgresJsQueries } from './orms/postgres-js.ts'
export type { PrismaQueries } from './orms/prisma.ts'
export type { QueryRunner } from './orms/typeorm.ts'
