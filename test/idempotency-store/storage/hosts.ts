// Hosts over one Postgres whose storages batch calls, and the statements that they send.
import type { IdempotencyStorage } from '@gatewright/idempotency-store'
import type { Ending, BeginResult } from '#packages/idempotency-store/dist/storage/port.js'
import { migrateIdempotency, postgresIdempotency } from '@gatewright/idempotency-store/postgres'
import { fromPgPool, type SqlClient } from '@gatewright/kernel/sql'
import { race } from '@gatewright/kernel/testing'
import pg from 'pg'
import type { Test } from 'tap'
import { openPostgresPool, uniqueName } from '../../harness/stores.ts'

export const NOW = 1_767_225_600_000
export const LEASE = NOW + 60_000
/** An ending with a response. */
export const done = (response: string): Ending => ({ state: 'done', response, expiresAt: LEASE })

/** A host, and the statements that its storage sends. */
export interface Host {
  readonly db: SqlClient
  readonly storage: IdempotencyStorage
  /** The number of calls of each statement. */
  readonly batchSizes: number[]
  /** SQLSTATEs of statements that were refused. */
  readonly failedStates: string[]
  /** The largest number of statements in flight. */
  mostInFlight: number
}

/** A client that records its statements. `after` runs before the caller gets each reply. */
export function watch(real: SqlClient, after: (batchSizes: number) => Promise<void> = async () => {}): Host {
  const [batchSizes, failedStates]: [number[], string[]] = [[], []]
  let inFlight = 0
  const db: SqlClient = {
    dialect: real.dialect,
    transaction: work => real.transaction(work),
    async query(text, values = []) {
      const [first] = values
      const size = typeof first === 'string' && first.startsWith('{') ? first.split(',').length : 1
      batchSizes.push(size)
      host.mostInFlight = Math.max(host.mostInFlight, ++inFlight)
      try {
        const reply = await real.query(text, values)
        await after(size)
        return reply
      } catch (error) {
        failedStates.push(String((error as { cause?: { code?: unknown } }).cause?.code))
        throw error
      } finally {
        inFlight--
      }
    },
  }
  const host: Host = { db, storage: postgresIdempotency(db), batchSizes, failedStates, mostInFlight: 0 }
  return host
}

/** Opens hosts with a pool of 10 each to one fresh schema, with settings of Postgres for all their connections. */
export async function openHosts(t: Test, count: number, settings = ''): Promise<Host[]> {
  const schema = uniqueName()
  const setUp = await openPostgresPool(schema, 1)
  await migrateIdempotency(fromPgPool(setUp))
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

/** Makes `count` keys. */
export const keys = (count: number, name = 'key'): string[] =>
  Array.from({ length: count }, (_, index) => `${name} ${index}`)
/** Begins all keys in one turn. */
export const beginAll = (storage: IdempotencyStorage, each: readonly string[]): Promise<BeginResult[]> =>
  race(each.length, index => storage.begin(each[index] as string, 'f', LEASE, NOW))
/** Ends all keys that were begun first, in one turn. */
export const endAll = (
  storage: IdempotencyStorage,
  each: readonly string[],
  ending: Ending,
): Promise<boolean[]> => race(each.length, index => storage.end(each[index] as string, NOW, ending, NOW))
/** Repeats a value. */
export const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)
/** The result of the first begin of a key. */
export const STARTED = { state: 'started', fence: NOW }
