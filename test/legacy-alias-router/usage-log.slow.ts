import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fromPgPool, fromSqlite } from '@gatewright/kernel/sql'
import type { AliasUsageStorage } from '@gatewright/legacy-alias-router'
import { migrateAliasUsage, postgresAliasUsage } from '@gatewright/legacy-alias-router/postgres'
import { redisAliasUsage } from '@gatewright/legacy-alias-router/redis'
import { migrateAliasUsage as migrateSqlite, sqliteAliasUsage } from '@gatewright/legacy-alias-router/sqlite'
import Database from 'libsql'
import t from 'tap'
import { plainNode } from '../harness/node.ts'
import { openPostgresPool, openRedis, uniqueName } from '../harness/stores.ts'

const PROCESSES = 4
const FLUSH_MS = 250
/** What one write may take on a machine that is busy with the other processes. */
const WRITE_MS = 500

interface Store {
  readonly where: string
  readonly storage: AliasUsageStorage
  close(): Promise<unknown>
}

const stores: Record<string, () => Promise<Store>> = {
  async redis() {
    const where = `{${uniqueName()}}:`
    const { connections, close } = await openRedis(1)
    return { where, storage: redisAliasUsage(connections[0]!, { prefix: where }), close }
  },
  async postgres() {
    const where = uniqueName()
    const pool = await openPostgresPool(where, 1)
    const db = fromPgPool(pool)
    await migrateAliasUsage(db)
    const close = async (): Promise<void> => {
      await pool.query(`drop schema ${where} cascade`)
      await pool.end()
    }
    return { where, storage: postgresAliasUsage(db), close }
  },
  async sqlite() {
    const directory = mkdtempSync(join(tmpdir(), 'gatewright-usage-'))
    const where = join(directory, 'usage.sqlite')
    const database = new Database(where)
    database.exec('pragma journal_mode = wal; pragma busy_timeout = 10000')
    const db = fromSqlite(database)
    await migrateSqlite(db)
    const close = async (): Promise<void> => {
      database.close()
      rmSync(directory, { recursive: true, force: true })
    }
    return { where, storage: sqliteAliasUsage(db), close }
  },
}

/** Starts a process of uses. `instants` has when each was noted. */
function start(store: string, where: string, uses: number) {
  const script = fileURLToPath(new URL('usage-log.child.js', import.meta.url))
  const args = [script, store, where, String(uses), String(FLUSH_MS)]
  const child = plainNode(args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  const closed = once(child, 'close')
  const instants = (): number[] => text.split('\n').filter(Boolean).map(Number)
  return { child, closed, instants }
}

const spanOf = (instants: readonly number[]): number => (instants.at(-1) ?? 0) - (instants[0] ?? 0)

/** Uses that the store holds, counted by the prefix that every one of them used. */
async function stored(storage: AliasUsageStorage): Promise<{ uses: number; headers: number }> {
  const rows = await storage.page(undefined, 1000)
  const sum = (start: string): number =>
    rows.reduce((total, { alias, count }) => total + (alias.startsWith(start) ? count : 0), 0)
  return { uses: sum('prefix:'), headers: sum('header:') }
}

for (const [name, open] of Object.entries(stores)) {
  t.test(`${name}: ${PROCESSES} the uses of processes that end cleanly are counted exactly`, async t => {
    const { where, storage, close } = await open()
    t.teardown(close)
    const processes = Array.from({ length: PROCESSES }, () => start(name, where, 5000))
    for (const { closed } of processes) t.same(await closed, [0, null])
    t.same(await stored(storage), { uses: PROCESSES * 5000, headers: PROCESSES * 5000 })
    t.comment(`measured ${name}: ${PROCESSES} x 5000 uses, each counted once`)
  })

  t.test(
    `${name}: processes that are killed lose no more than their last ${FLUSH_MS} ms and a write`,
    async t => {
      const { where, storage, close } = await open()
      t.teardown(close)
      const processes = Array.from({ length: PROCESSES }, () => start(name, where, 0))
      let noted = 0
      let bound = 0
      for (const [index, { child, closed, instants }] of processes.entries()) {
        // Long against the bound, and each killed at another point of its flush.
        while (spanOf(instants()) < 2500 + 330 * index) await once(child.stdout!, 'data')
        child.kill('SIGKILL')
        await closed
        const times = instants()
        const last = times.at(-1) as number
        noted += times.length
        bound += times.filter(at => at > last - FLUSH_MS - WRITE_MS).length
      }
      const { uses } = await stored(storage)
      t.ok(uses > 0, 'something was written before the kill')
      // A use is noted before it is printed, so one that was stored may not have been printed.
      t.ok(uses <= noted + PROCESSES, `${uses} stored of ${noted} noted: nothing is counted twice`)
      t.ok(bound < noted / 2, 'the bound says something')
      t.ok(noted - uses <= bound, `${noted - uses} of ${noted} lost, at most ${bound} allowed`)
      t.comment(
        `measured ${name}: ${noted - uses} of ${noted} uses lost by ${PROCESSES} kills, bound ${bound}`,
      )
    },
  )
}
