import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { fromPrisma, type OrmClient } from '@gatewright/kernel/orms'
import { buildSync } from 'esbuild'
import { kept } from '../../../harness/binaries.ts'
import { openPostgresPool, uniqueName } from '../../../harness/stores.ts'

const VERSION = '7.10.0'
const PACKAGES = ['prisma', '@prisma/client', '@prisma/adapter-pg'].map(name => `${name}@${VERSION}`)

const SCHEMA = `generator client {
  provider = "prisma-client"
  output   = "../generated"
}
datasource db {
  provider = "postgresql"
}
model Payment {
  id      String @id
  account String
  @@map("payments")
}
`

/** The client that Prisma generates for the schema above. */
interface PrismaModule {
  readonly PrismaClient: new (options: {
    readonly adapter: unknown
    readonly transactionOptions: object
  }) => PrismaClient
}

interface Transaction {
  $queryRawUnsafe(text: string, ...values: never[]): PromiseLike<unknown>
  readonly payment: { create(row: { data: { id: string; account: string } }): PromiseLike<unknown> }
}

interface PrismaClient extends Transaction {
  $transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  $disconnect(): Promise<void>
}

interface AdapterModule {
  readonly PrismaPg: new (
    pool: { readonly connectionString: string; readonly max: number },
    options: object,
  ) => unknown
}

const BUNDLE = 'client.mjs'

/**
 * Installs Prisma into a folder and generates its client. It is no dependency of the root: it takes 300 MB. Its engine for migrations, which
 * cannot be downloaded everywhere, is not needed: the client runs queries without one.
 */
function makePrisma(folder: string): void {
  const run = (program: string, args: readonly string[]): void => {
    const env = { ...process.env, NODE_OPTIONS: '', PRISMA_SCHEMA_ENGINE_BINARY: process.execPath }
    const { status } = spawnSync(program, args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] })
    if (status !== 0) throw new Error(`no Prisma for the tests: ${program} ${args.join(' ')} failed`)
  }
  mkdirSync(join(folder, 'prisma'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }')
  writeFileSync(join(folder, 'prisma/schema.prisma'), SCHEMA)
  writeFileSync(join(folder, 'prisma.config.ts'), "export default { schema: 'prisma/schema.prisma' }\n")
  run('npm', ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', ...PACKAGES])
  run(process.execPath, ['node_modules/prisma/build/index.js', 'generate'])
  buildSync({
    stdin: {
      contents: "export * from './generated/client.ts'; export * from '@prisma/adapter-pg'",
      resolveDir: folder,
    },
    outfile: join(folder, BUNDLE),
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
  })
}

async function prismaModules(): Promise<PrismaModule & AdapterModule> {
  const directory = kept(`prisma-${VERSION}`, { has: BUNDLE, make: makePrisma })
  if (directory === undefined) throw new Error('no Prisma for the tests: its client was not generated')
  return (await import(pathToFileURL(join(directory, BUNDLE)).href)) as PrismaModule & AdapterModule
}

/** Clients of Prisma over a fresh schema of Postgres with the table `payments`. */
export interface OpenedPrisma {
  readonly connections: readonly OrmClient<Transaction>[]
  /** Writes a payment in a transaction, as a team does. */
  pay(tx: Transaction, id: string): PromiseLike<unknown>
  close(): Promise<void>
}

/** Opens `count` clients of Prisma with a pool of `max` connections each. */
export async function openPrisma(count: number, max: number): Promise<OpenedPrisma> {
  const { PrismaClient, PrismaPg } = await prismaModules()
  const schema = uniqueName()
  const admin = await openPostgresPool(schema, 1)
  await admin.query('create table payments (id text primary key, account text not null)')
  const url = new URL(process.env['TEST_POSTGRES_URL'] as string)
  url.searchParams.set('options', `-c search_path=${schema}`)
  // Many wait for few connections, on a slow machine for longer than the 2 seconds that Prisma lets them.
  const transactionOptions = { maxWait: 60_000, timeout: 60_000 }
  const adapter = (): unknown => new PrismaPg({ connectionString: url.href, max }, { schema })
  const clients = Array.from(
    { length: count },
    () => new PrismaClient({ adapter: adapter(), transactionOptions }),
  )
  return {
    connections: clients.map(client => fromPrisma<Transaction>(client)),
    pay: (tx, id) => tx.payment.create({ data: { id, account: 'acc_1' } }),
    close: async () => {
      await Promise.all(clients.map(client => client.$disconnect()))
      await admin.query(`drop schema ${schema} cascade`)
      await admin.end()
    },
  }
}
