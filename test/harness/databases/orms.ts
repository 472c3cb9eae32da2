// The ORMs and drivers that teams use, over a fresh schema of Postgres or a fresh file of SQLite. The slow ones are loaded when they are opened.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  fromDrizzle,
  fromKysely,
  fromLibsqlClient,
  fromPostgresJs,
  fromTypeOrm,
  type OrmClient,
  type OrmOptions,
} from '@gatewright/kernel/orms'
import { createClient } from '@libsql/client'
import { drizzle as drizzleLibsql } from 'drizzle-orm/libsql'
import { drizzle as drizzlePg } from 'drizzle-orm/node-postgres'
import { pgTable, text } from 'drizzle-orm/pg-core'
import { drizzle as drizzlePostgresJs } from 'drizzle-orm/postgres-js'
import { sqliteTable, text as sqliteText } from 'drizzle-orm/sqlite-core'
import type { Knex } from 'knex'
import { CamelCasePlugin, Kysely, PostgresDialect, SqliteDialect } from 'kysely'
import Database from 'libsql'
import postgres from 'postgres'
import type { Sequelize as SequelizeOrm, Transaction } from 'sequelize'
import { recipe } from './recipes.ts'
import { openPostgresPool, uniqueName } from '../stores.ts'

/** A team's ORM with a table `payments`, and the client over it. */
export interface TeamOrm<Tx> {
  readonly db: OrmClient<Tx>
  /** Writes a payment in a transaction, as a team does. */
  pay(tx: Tx, id: string): Promise<unknown>
  /** Writes a payment with the root client. */
  payOutside(id: string): Promise<unknown>
  close(): Promise<void>
}

/** Where an ORM connects to: a Postgres with a schema. */
interface Place {
  readonly url: string
  readonly schema: string
  /** How often the client repeats what Postgres rolled back. */
  readonly retries: number
}

/** Opens an ORM. Its type of transaction differs from that of another one, so it is read by the ORM's own `pay` only. */
export type OpenOrm = (place: Place, size: number) => Promise<TeamOrm<never>>

const PAYMENT = 'create table if not exists payments (id text primary key, account text not null)'
const ACCOUNT = 'acc_1'

const options = ({ retries }: Place) => ({ retries })
const searchPath = (schema: string): string => `-c search_path=${schema}`

async function openPool({ url, schema }: Place, size: number) {
  const pool = await openPostgresPool(schema, size, url)
  // A connection that dies while an ORM uses it emits an error, which ends the process without a listener.
  return pool.on('connect', client => client.on('error', () => {}))
}

interface Tables {
  payments: { id: string; account: string }
}

const opened = <Tx>(orm: TeamOrm<Tx>): TeamOrm<never> => orm as TeamOrm<never>

async function openKysely(place: Place, size: number): Promise<TeamOrm<never>> {
  const kysely = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: await openPool(place, size) }),
    plugins: [new CamelCasePlugin()],
  })
  return opened({
    db: fromKysely(kysely, options(place)),
    pay: (tx, id) => tx.insertInto('payments').values({ id, account: ACCOUNT }).execute(),
    payOutside: id => kysely.insertInto('payments').values({ id, account: ACCOUNT }).execute(),
    close: () => kysely.destroy(),
  })
}

const payments = pgTable('payments', { id: text().primaryKey(), account: text().notNull() })

async function openDrizzle(place: Place, size: number): Promise<TeamOrm<never>> {
  const pool = await openPool(place, size)
  const drizzle = drizzlePg(pool)
  return opened({
    db: fromDrizzle(drizzle, options(place)),
    pay: (tx, id) => tx.insert(payments).values({ id, account: ACCOUNT }),
    payOutside: async id => drizzle.insert(payments).values({ id, account: ACCOUNT }),
    close: () => pool.end(),
  })
}

const openSql = ({ url, schema }: Place, max: number) =>
  postgres(url, { max, connection: { search_path: schema }, onnotice: () => {} })

async function openDrizzlePostgresJs(place: Place, size: number): Promise<TeamOrm<never>> {
  const sql = openSql(place, size)
  const drizzle = drizzlePostgresJs(sql)
  return opened({
    db: fromDrizzle(drizzle, options(place)),
    pay: (tx, id) => tx.insert(payments).values({ id, account: ACCOUNT }),
    payOutside: async id => drizzle.insert(payments).values({ id, account: ACCOUNT }),
    close: () => sql.end({ timeout: 1 }),
  })
}

async function openPostgresJs(place: Place, size: number): Promise<TeamOrm<never>> {
  const root = openSql(place, size)
  const db = fromPostgresJs(root, options(place))
  return opened({
    db,
    pay: (tx, id) => tx`insert into payments ${db.sql({ id, account: ACCOUNT })}`,
    payOutside: async id => db.sql`insert into payments ${db.sql({ id, account: ACCOUNT })}`,
    close: () => root.end({ timeout: 1 }),
  })
}

async function openKnex(place: Place, max: number): Promise<TeamOrm<never>> {
  const { url, schema } = place
  const { default: knex } = await import('knex')
  const { fromKnex } = await recipe<{
    fromKnex: (root: Knex, options: OrmOptions) => OrmClient<Knex.Transaction>
  }>('Knex')
  const root = knex({
    client: 'pg',
    connection: url,
    searchPath: [schema],
    pool: { min: 0, max },
    postProcessResponse: () => [{ renamed: 'by the team' }],
  })
  return opened({
    db: fromKnex(root, options(place)),
    pay: async (tx, id) => tx('payments').insert({ id, account: ACCOUNT }),
    payOutside: async id => root('payments').insert({ id, account: ACCOUNT }),
    close: () => root.destroy(),
  })
}

async function openTypeOrm(place: Place, max: number): Promise<TeamOrm<never>> {
  const { url, schema } = place
  const { DataSource, EntitySchema } = await import('typeorm')
  const Payment = new EntitySchema<{ id: string; account: string }>({
    name: 'payments',
    columns: { id: { type: 'text', primary: true }, account: { type: 'text' } },
  })
  const dataSource = new DataSource({
    type: 'postgres',
    url,
    entities: [Payment],
    extra: { max, options: searchPath(schema) },
  })
  await dataSource.initialize()
  return opened({
    db: fromTypeOrm(dataSource, options(place)),
    pay: (manager, id) => manager.insert(Payment, { id, account: ACCOUNT }),
    payOutside: id => dataSource.getRepository(Payment).insert({ id, account: ACCOUNT }),
    close: () => dataSource.destroy(),
  })
}

async function openSequelize(place: Place, max: number): Promise<TeamOrm<never>> {
  const { url, schema } = place
  const { DataTypes, Model, Sequelize } = await import('sequelize')
  const { fromSequelize } = await recipe<{
    fromSequelize: (root: SequelizeOrm, options: OrmOptions) => OrmClient<Transaction>
  }>('Sequelize')
  const sequelize = new Sequelize(url, {
    logging: false,
    pool: { max },
    dialectOptions: { options: searchPath(schema) },
  })
  class Row extends Model {}
  Row.init(
    { id: { type: DataTypes.TEXT, primaryKey: true }, account: DataTypes.TEXT },
    { sequelize, tableName: 'payments', timestamps: false },
  )
  return opened({
    db: fromSequelize(sequelize, options(place)),
    pay: (transaction, id) => Row.create({ id, account: ACCOUNT }, { transaction }),
    payOutside: id => Row.create({ id, account: ACCOUNT }),
    close: () => sequelize.close(),
  })
}

/** The ORMs and drivers on Postgres. */
export const POSTGRES_ORMS: Readonly<Record<string, OpenOrm>> = {
  Kysely: openKysely,
  Drizzle: openDrizzle,
  'Drizzle on postgres.js': openDrizzlePostgresJs,
  'postgres.js': openPostgresJs,
  Knex: openKnex,
  TypeORM: openTypeOrm,
  Sequelize: openSequelize,
}

async function openKyselyOnSqlite(file: string): Promise<TeamOrm<never>> {
  const kysely = new Kysely<Tables>({ dialect: new SqliteDialect({ database: new Database(file) }) })
  return opened({
    db: fromKysely(kysely, { dialect: 'sqlite' }),
    pay: (tx, id) => tx.insertInto('payments').values({ id, account: ACCOUNT }).execute(),
    payOutside: id => kysely.insertInto('payments').values({ id, account: ACCOUNT }).execute(),
    close: () => kysely.destroy(),
  })
}

const sqlitePayments = sqliteTable('payments', {
  id: sqliteText().primaryKey(),
  account: sqliteText().notNull(),
})

async function openDrizzleOnLibsql(file: string): Promise<TeamOrm<never>> {
  const client = createClient({ url: `file:${file}` })
  const drizzle = drizzleLibsql(client)
  return opened({
    db: fromDrizzle(drizzle),
    pay: async (tx, id) => tx.insert(sqlitePayments).values({ id, account: ACCOUNT }),
    payOutside: async id => drizzle.insert(sqlitePayments).values({ id, account: ACCOUNT }),
    close: async () => client.close(),
  })
}

async function openLibsqlClient(file: string): Promise<TeamOrm<never>> {
  const client = createClient({ url: `file:${file}` })
  const text = 'insert into payments (id, account) values (?, ?)'
  return opened({
    db: fromLibsqlClient(client),
    pay: (tx, id) => tx.execute({ sql: text, args: [id, ACCOUNT] }),
    payOutside: async id => client.execute({ sql: text, args: [id, ACCOUNT] }),
    close: async () => client.close(),
  })
}

/** The ORMs and drivers on SQLite: one client each, as SQLite belongs to one process. */
const SQLITE_ORMS: Readonly<Record<string, (file: string) => Promise<TeamOrm<never>>>> = {
  'Kysely on SQLite': openKyselyOnSqlite,
  'Drizzle on libsql': openDrizzleOnLibsql,
  '@libsql/client': openLibsqlClient,
}

/** Opened clients of one ORM over one database. */
export interface OpenedOrm {
  readonly orms: readonly TeamOrm<never>[]
  /** The clients, one per process that they stand for. */
  readonly connections: readonly OrmClient<never>[]
  /** The schema on Postgres. Empty on SQLite. */
  readonly schema: string
  close(): Promise<void>
}

/** The names of all. */
export const ORM_NAMES: readonly string[] = [...Object.keys(POSTGRES_ORMS), ...Object.keys(SQLITE_ORMS)]

/** Opens `count` clients of an ORM with a pool of `size` each over a fresh database with the table `payments`. On SQLite it opens one. */
export async function openOrm(name: string, count: number, size: number, retries = 0): Promise<OpenedOrm> {
  const onPostgres = POSTGRES_ORMS[name]
  return onPostgres
    ? openOnPostgres(onPostgres, count, size, retries)
    : openOnSqlite(SQLITE_ORMS[name] as never)
}

async function openOnPostgres(
  open: OpenOrm,
  count: number,
  size: number,
  retries: number,
): Promise<OpenedOrm> {
  const schema = uniqueName()
  const admin = await openPostgresPool(schema, 1)
  await admin.query(PAYMENT)
  const place = { url: process.env['TEST_POSTGRES_URL'] as string, schema, retries }
  const orms = await Promise.all(Array.from({ length: count }, () => open(place, size)))
  return {
    orms,
    connections: orms.map(orm => orm.db),
    schema,
    close: async () => {
      await Promise.all(orms.map(orm => orm.close()))
      await admin.query(`drop schema ${schema} cascade`)
      await admin.end()
    },
  }
}

async function openOnSqlite(open: (file: string) => Promise<TeamOrm<never>>): Promise<OpenedOrm> {
  const directory = mkdtempSync(join(tmpdir(), 'gatewright-orm-'))
  const file = join(directory, 'test.sqlite')
  const database = new Database(file)
  database.exec(`pragma journal_mode = wal; ${PAYMENT}`)
  database.close()
  const orm = await open(file)
  return {
    orms: [orm],
    connections: [orm.db],
    schema: '',
    close: async () => {
      await orm.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
