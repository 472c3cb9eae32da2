// Hosts over one Postgres whose storages share statements, and what they send.
import type { Begun, Ending, IdempotencyStorage } from '@gatewright/idempotency-store'
import { migrate, postgresStorage } from '@gatewright/idempotency-store/postgres'
import { fromPgPool, type SqlClient } from '@gatewright/kernel/sql'
import { race } from '@gatewright/kernel/testing'
import pg from 'pg'
import type { Test } from 'tap'
import { openPostgresPool, uniqueName } from '../../harness/stores.ts'

export const NOW = 1_767_225_600_000
export const LEASE = NOW + 60_000
/** An ending with an answer. */
export const done = (answer: string): Ending => ({ state: 'done', answer, expiresAt: LEASE })

/** A host: its storage, and what it sends. */
export interface Host {
  readonly db: SqlClient
  readonly storage: IdempotencyStorage
  /** How many calls each statement carried. */
  readonly carried: number[]
  /** SQLSTATEs of statements that were refused. */
  readonly refused: string[]
  /** The most statements under way at once. */
  mostAtOnce: number
}

/** A client that notes what passes; `after` sees each reply before the caller does. */
export function watch(real: SqlClient, after: (carried: number) => Promise<void> = async () => {}): Host {
  const [carried, refused]: [number[], string[]] = [[], []]
  let underWay = 0
  const db: SqlClient = {
    transaction: work => real.transaction(work),
    async query(text, values = []) {
      const [first] = values
      const size = typeof first === 'string' && first.startsWith('{') ? first.split(',').length : 1
      carried.push(size)
      host.mostAtOnce = Math.max(host.mostAtOnce, ++underWay)
      try {
        const reply = await real.query(text, values)
        await after(size)
        return reply
      } catch (error) {
        refused.push(String((error as { cause?: { code?: unknown } }).cause?.code))
        throw error
      } finally {
        underWay--
      }
    },
  }
  const host: Host = { db, storage: postgresStorage(db), carried, refused, mostAtOnce: 0 }
  return host
}

/** Opens hosts with a pool of 10 each to one fresh schema, with settings of Postgres for all their connections. */
export async function openHosts(t: Test, count: number, settings = ''): Promise<Host[]> {
  const schema = uniqueName()
  const setUp = await openPostgresPool(schema, 1)
  await migrate(fromPgPool(setUp))
  const pools = Array.from({ length: count }, () => {
    const connectionString = process.env['TEST_POSTGRES_URL'] as string
    const pool = new pg.Pool({ connectionString, max: 10, options: `-c search_path=${schema} ${settings}` })
    return pool.on('error', () => {})
  })
  t.teardown(async () => {
    await Promise.all(pools.map(pool => pool.end()))
    await setUp.query(`drop schema ${schema} cascade`)
    await setUp.end()
  })
  return pools.map(pool => watch(fromPgPool(pool, { prepare: true })))
}

export async function openHost(t: Test, settings?: string): Promise<Host> {
  return (await openHosts(t, 1, settings))[0] as Host
}

/** So many keys. */
export const keys = (count: number, name = 'key'): string[] =>
  Array.from({ length: count }, (_, index) => `${name} ${index}`)
/** Begins all keys in one turn. */
export const beginAll = (storage: IdempotencyStorage, each: readonly string[]): Promise<Begun[]> =>
  race(each.length, index => storage.begin(each[index] as string, 'f', LEASE, NOW))
/** Ends all keys that were begun first, in one turn. */
export const endAll = (
  storage: IdempotencyStorage,
  each: readonly string[],
  ending: Ending,
): Promise<boolean[]> => race(each.length, index => storage.end(each[index] as string, NOW, ending, NOW))
/** A value so many times. */
export const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)
/** What the first begin of a key is told. */
export const STARTED = { state: 'started', fence: NOW }
