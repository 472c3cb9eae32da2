import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { migrateIdempotency } from '@gatewright/idempotency-store/postgres'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { race } from '@gatewright/kernel/testing'
import t from 'tap'
import { openOrm } from '../../harness/databases/orms.ts'
import { turnOf } from '../../harness/turns.ts'
import { payByOrm } from './pay-by-orm.ts'

const VICTIM = fileURLToPath(new URL('orm-victim.child.js', import.meta.url))
/** The begin of the transaction, the begin of the record, the payment, the record, and the commit. */
const STATEMENTS = 5

for (const name of turnOf(['Kysely', 'Drizzle', 'Knex'], 1))
  t.test(
    `${name}: 30 duplicates write one row and get one response, wherever the server is killed`,
    async t => {
      const { orms, connections, schema, close } = await openOrm(name, 1, 3)
      t.teardown(close)
      const db = connections[0] as SqlClient
      await migrateIdempotency(db)
      const pay = payByOrm(orms[0]!)
      let paid = 0
      for (const when of ['before', 'during'] as const) {
        let deaths = 0
        for (let at = 1; at <= 50; at++) {
          const key = `killed-${when}-${at}`
          // Without the hooks that tap puts into every child process.
          const env = { ...process.env, NODE_OPTIONS: '' }
          const args = [VICTIM, name, schema, key, when, String(at)]
          const child = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 300_000, env })
          const died = child.signal === 'SIGKILL'
          if (!died && child.status !== 0) throw new Error(`the server failed: ${child.stderr}`)
          const bodies = await race(30, () => pay(key))
          t.equal(new Set(bodies).size, 1, `${key}: one response`)
          paid += 1
          t.equal((await rows(db, 'select id from payments')).length, paid, `${key}: one row`)
          if (!died) break
          deaths += 1
        }
        t.ok(deaths >= STATEMENTS, `the server died ${when} ${deaths} statements`)
      }
    },
  )
