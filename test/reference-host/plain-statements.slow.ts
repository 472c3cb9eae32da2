// A host sends plain statements and creates tables and indexes only: nothing that runs in the database, and no lock that it cannot see.
import { randomBytes, randomUUID } from 'node:crypto'
import { manualClock } from '@gatewright/kernel/testing'
import { createLedger } from '#packages/host/dist/ledger/ledger.js'
import { fromPgPool } from '@gatewright/kernel/sql'
import pg from 'pg'
import t, { type Test } from 'tap'
import { cardUser } from './harness/card-payments.ts'
import { bearer, bootstrapUser, startTestHost, type HttpResponse } from '../harness/host.ts'
import { CHORES, done } from './harness/host-work.ts'
import { moneyUser, payinOf } from './harness/money.ts'
import { recordStatements } from './harness/partitions.ts'
import { uniqueName } from '../harness/stores.ts'
import { memberOf, withdrawalBody } from './harness/transfers.ts'

/** What does not work behind a pooler or on several machines. */
const FORBIDDEN = /advisory|trigger|plpgsql|create function|\bdo \$|pg_locks|xid8|pg_snapshot/i

/** Makes a database whose role may not call advisory locks and notifications, with an isolation level. */
async function openDatabase(t: Test, level: string): Promise<URL> {
  const url = new URL(process.env['TEST_POSTGRES_URL'] as string)
  const name = uniqueName()
  const admin = new pg.Client({ connectionString: url.href })
  await admin.connect()
  await admin.query(`create role ${name} login`)
  await admin.query(`create database ${name} owner ${name}`)
  url.pathname = name
  const inside = new pg.Client({ connectionString: url.href })
  await inside.connect()
  const { rows } = await inside.query<{ name: string }>(
    "select oid::regprocedure::text as name from pg_proc where proname ~ 'advisory' or proname = 'pg_notify'",
  )
  for (const each of rows) await inside.query(`revoke execute on function ${each.name} from public`)
  await inside.end()
  await admin.query(`alter role ${name} set default_transaction_isolation = '${level}'`)
  t.teardown(async () => {
    await admin.query(`drop database ${name} with (force)`)
    await admin.query(`drop role ${name}`)
    await admin.end()
  })
  url.username = name
  return url
}

for (const level of ['read committed', 'serializable'])
  t.test(`serves everything without advisory locks and notifications, at ${level}`, async t => {
    const url = await openDatabase(t, level)
    const clock = manualClock(Date.now())
    const recorded = recordStatements(() => true)
    const env = {
      DATABASE_URL: url.href,
      RATE_LIMITS: 'off',
      KEY_PEPPERS: `test:${randomBytes(24).toString('hex')}`,
      SIGNING_KEY_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
      DATA_KEYS: `test:${randomBytes(32).toString('hex')}`,
    }
    const host = await startTestHost(env, clock)
    const pool = new pg.Pool({ connectionString: url.href, max: 1 })
    t.teardown(async () => {
      recorded.stop()
      await pool.end()
      await host.close()
    })

    const ann = await bootstrapUser(host.send, { sessionTtlSeconds: 86_400 }, clock.now())
    const ben = await bootstrapUser(host.send, { sessionTtlSeconds: 86_400 }, clock.now())
    const money = moneyUser(host.send, ann)
    const pay = (key?: string): Promise<HttpResponse> =>
      money.write('/payments', { to: { walletAddress: ben.address }, amountCents: 300 }, key)
    done(await host.send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': ann.key } }))
    done(await money.fund(100_000))
    const payin = payinOf(await money.write('/subscriptions/payin', { plan: 'pro', method: 'balance' }))
    done(await money.write('/subscriptions/payin/confirm-balance', { payinId: payin.id }))
    const key = randomUUID()
    const [first, again] = [done(await pay(key)), done(await pay(key))]
    t.same(again.body, first.body, 'a repeated write gets its response again')
    const cards = cardUser(host.send, ann.token)
    const paid = await cards.pay(await cards.card())
    done(await cards.later(paid.id, 'clear'))
    memberOf(await money.write('/withdrawals', withdrawalBody(2500)), 'withdrawal')

    const together = randomUUID()
    const parallel = await Promise.all(
      Array.from({ length: 12 }, (_, n) => pay(n < 4 ? together : undefined)),
    )
    for (const { status } of parallel) t.ok([200, 409, 503].includes(status), `status ${status}`)
    const distinct = parallel.slice(4).filter(({ status }) => status === 200).length
    t.ok(distinct > 0, 'simultaneous payments succeed')
    for (const chore of CHORES) await host.chore(chore)
    done(await money.read('/transactions'))

    const session = bearer(ann.token)
    const open = done(await host.send('/user/v1/sessions', { headers: session })).body
    const ids = [...JSON.stringify(open).matchAll(/"sessionId":"([^"]+)"/g)].map(([, id = '']) => id)
    t.ok(ids.length > 0)
    for (const id of ids) {
      const ended = await host.send(`/user/v1/sessions/${id}`, { method: 'DELETE', headers: session })
      t.ok([200, 401].includes(ended.status), `status ${ended.status}`)
    }
    // Without notifications, the feed is read every so often.
    while ((await host.send('/user/v1/sessions', { headers: session })).status === 200);

    t.ok(recorded.sent.length > 100, 'statements were recorded')
    t.same(
      recorded.sent.map(({ text }) => text).filter(text => FORBIDDEN.test(text)),
      [],
      'nothing was sent that such an engine refuses',
    )
    const { rows: made } = await pool.query<{ found: string }>(
      `select tgname as found from pg_trigger where not tgisinternal
       union all select proname from pg_proc where pronamespace = 'public'::regnamespace`,
    )
    t.same(made, [], 'neither triggers nor functions were created')
    const ledger = createLedger(fromPgPool(pool))
    t.match(await ledger.check(), { sumCents: 0, wrongAccounts: [], wrongTransfers: [] })
    const metrics = await (await fetch(`${host.url}/metrics`)).text()
    t.match(metrics, /gatewright_database_retries_total\{reason="serialization"\} \d+/)
    t.match(metrics, 'gatewright_database_connections{state="waiting"} 0')
  })

t.test('the role of these tests may not call what is missing', async t => {
  const url = await openDatabase(t, 'read committed')
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  for (const call of ['pg_advisory_xact_lock(1)', 'pg_try_advisory_xact_lock(1)', "pg_notify('a', '')"])
    await t.rejects(client.query(`select ${call}`), { code: '42501' }, call)
  await client.end()
})
