import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { migrateIdempotency } from '@gatewright/idempotency-store/mariadb'
import { rows } from '@gatewright/kernel/sql'
import { race } from '@gatewright/kernel/testing'
import { migrateSpends, mariadbSpends } from '@gatewright/scope-guard/mariadb'
import t from 'tap'
import { openMariaDb, startMariaDb } from './mariadb.ts'
import { stepsOf } from '../../../harness/turns.ts'
import { ACCOUNT, payOn, PAYMENTS } from './mariadb-payments.ts'

const VICTIM = fileURLToPath(new URL('mariadb-victim.child.js', import.meta.url))
/** What the first run sends: three statements begin the transaction, and three end it. */
const STATEMENTS = 14

const server = await startMariaDb()
t.teardown(server.stop)

t.test('30 duplicates pay once and get one response, wherever the server is killed', async t => {
  const { url, connections, pools, close } = await openMariaDb(server.url, 1, 5, async db => {
    await migrateIdempotency(db)
    await migrateSpends(db)
    await rows(db, PAYMENTS)
  })
  t.teardown(close)
  const db = connections[0]!
  const pay = payOn(pools[0]!)
  const { first, every } = stepsOf(4)
  let paid = 0
  for (const when of ['before', 'during'] as const) {
    let deaths = 0
    for (let at = first + 1; at <= 100; at += every) {
      const key = `killed-${when}-${at}`
      // Without the hooks that tap puts into every child process.
      const env = { ...process.env, NODE_OPTIONS: '' }
      const child = spawnSync(process.execPath, [VICTIM, url, key, when, String(at)], {
        encoding: 'utf8',
        timeout: 300_000,
        env,
      })
      const died = child.signal === 'SIGKILL'
      if (!died && child.status !== 0) throw new Error(`the server failed: ${child.stderr}`)
      const bodies = await race(30, () => pay(key))
      t.equal(new Set(bodies).size, 1, `${key}: one response`)
      paid += 1
      t.equal((await rows(db, 'select id from payments')).length, paid, `${key}: one row`)
      t.same(
        await mariadbSpends(db).usage(ACCOUNT, ['day']),
        [{ used: 6 * paid, held: 6 * paid }],
        `${key}: one spend`,
      )
      if (!died || at > 2 * STATEMENTS) break
      deaths += 1
    }
    t.ok(deaths >= Math.floor(STATEMENTS / every), `the server died ${when} ${deaths} statements`)
  }
})
