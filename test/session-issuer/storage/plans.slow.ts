// A million keys and a million sessions: every look-up goes by an index and touches at most 5 pages; and what a
// live session weighs in Redis.
import { fromPgPool, type SqlClient, type SqlValue } from '@gatewright/kernel/sql'
import { race } from '@gatewright/kernel/testing'
import { migrate, postgresStorage } from '@gatewright/session-issuer/postgres'
import { redisStorage } from '@gatewright/session-issuer/redis'
import { keyRecord, sessionRecord } from '@gatewright/session-issuer/testing'
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { openPostgresPool, openRedis, uniqueName } from '../../harness/stores.ts'

const MILLION = 1_000_000
const MOST_BUFFERS = 5

interface Plan {
  'Node Type': string
  'Index Name'?: string
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: Plan[]
}

/** The nodes of a plan that fetch rows. */
function scans(plan: Plan): Plan[] {
  const below = (plan.Plans ?? []).flatMap(scans)
  return /Scan/.test(plan['Node Type']) ? [plan, ...below] : below
}

/** Rows as the adapters write them, copied by the server; ids of key 1234567 are `id0001234567`. */
async function fill(db: SqlClient): Promise<void> {
  const { digest, pepperId, lastUsedAt: _used, ...key } = keyRecord('ACC', { id: 'ID' })
  const { revokedAt: _revoked, ...session } = sessionRecord({ sessionId: 'ID', accountId: 'ACC' })
  const record = (value: object): string =>
    `replace($1, 'ID', 'id' || lpad(n::text, 10, '0'))`.replace('$1', quote(value))
  const quote = (value: object): string => `'${JSON.stringify(value)}'`
  const id = `'id' || lpad(n::text, 10, '0')`
  // 43 characters like the digest of an account id, in no order.
  const account = `rpad(md5(n::text), 43, 'x')`
  const series = `from generate_series(1, ${MILLION}) n`
  await db.query(`insert into gw_accounts select ${account}, 1 ${series}`)
  await db.query(
    `insert into gw_keys select ${id}, ${account}, ${id}, '${digest}', '${pepperId}', null, null, ${record(key)} ${series}`,
  )
  await db.query(
    `insert into gw_sessions select ${id}, ${account}, ${id}, ${id}, ${session.expiresAt}, null, ${record(session)} ${series}`,
  )
  await db.query(`insert into gw_key_policies select ${id}, ${id}, '{}' ${series}`)
  await db.query(`insert into gw_session_policies select ${id}, ${id}, '{}' ${series}`)
  await db.query(`insert into gw_feed (kind, id, version, at) select 'key', ${id}, 2, n ${series}`)
}

t.test('every look-up among a million goes by an index and touches at most 5 pages', async t => {
  t.setTimeout(600_000)
  const schema = uniqueName()
  const pool = await openPostgresPool(schema, 1)
  t.teardown(async () => {
    await pool.query(`drop schema ${schema} cascade`)
    await pool.end()
  })
  const db = fromPgPool(pool)
  await migrate(db)
  await fill(db)
  for (const table of ['accounts', 'keys', 'sessions', 'key_policies', 'session_policies', 'feed']) {
    await db.query(`vacuum analyze gw_${table}`)
  }

  const explain = async (what: string, text: string, values: readonly SqlValue[]): Promise<void> => {
    const { rows } = await db.query(`explain (analyze, buffers, format json) ${text}`, values)
    const [{ Plan: plan }] = rows[0]?.['QUERY PLAN'] as [{ Plan: Plan }]
    for (const scan of scans(plan)) {
      const buffers = scan['Shared Hit Blocks'] + scan['Shared Read Blocks']
      const line = `${what}: ${scan['Node Type']} ${scan['Index Name'] ?? ''}, ${buffers} buffers`
      t.match(scan['Node Type'], /Index/, line)
      t.ok(buffers <= MOST_BUFFERS, line)
      t.comment(`measured ${line}`)
    }
  }
  /** Runs a verb and explains each select it sends; what it writes is explained by hand below. */
  const spied = (what: string): SqlClient => ({
    ...db,
    query: async (text, values = []) => {
      await explain(what, text, values)
      return db.query(text, values)
    },
  })
  const id = 'id0000500000'
  const { rows } = await db.query('select account from gw_keys where id = $1', [id])
  const account = rows[0]?.['account'] as string
  const keys = (what: string) => postgresStorage(spied(what)).keys
  const sessions = (what: string) => postgresStorage(spied(what)).sessions
  t.equal((await keys('find a key').find(id))?.id, id)
  t.equal((await keys('policies of a key').policies([id])).length, 1)
  t.equal((await sessions('find a session').find(id))?.sessionId, id)
  t.equal((await sessions('policies of a session').policies([id])).length, 1)
  await keys('load an account, none').load('nobody')
  await sessions('list an account, none').list('nobody', 100, 0)
  await explain(
    'load an account',
    `select a.revision, k.id, k.record, k.digest, k.pepper_id, k.last_used_at from gw_accounts a
      left join gw_keys k on k.account = a.account where a.account = $1`,
    [account],
  )
  await explain(
    'list the sessions of an account',
    `select record, revoked_at from gw_sessions where account = $1 and expires_at > $2 and revoked_at is null
      order by expires_at desc limit $3`,
    [account, 0, 100],
  )
  const update = 'update gw_accounts set revision = revision + 1 where account = $1 and revision = $2'
  await explain('raise a revision', update, [account, 1])
  const revoke = `update gw_sessions set revoked_at = $1 where root_id = $2 and (path = $3 or substr(path, 1, length($4)) = $4)
    and revoked_at is null and expires_at > $1 returning id`
  await explain('revoke a session', revoke, [1, id, id, `${id}/`])
  const page = 'select * from gw_feed where position > $1 order by position limit 10'
  await explain('read the feed on', page, [MILLION - 5])
})

t.test('what a live session weighs in Redis', async t => {
  const { connections, close } = await openRedis(2)
  t.teardown(close)
  const prefix = `{${uniqueName()}}:`
  const { sessions } = redisStorage(connections[0]!, { prefix })
  const used = async (): Promise<number> => {
    const info = String(await connections[1]!.run('', ['INFO', 'memory']))
    return Number(/used_memory:(\d+)/.exec(info)?.[1])
  }
  const count = 20_000
  const weigh = async (perAccount: number): Promise<number> => {
    const before = await used()
    const insert = (index: number): Promise<boolean> => {
      const account = Math.floor(index / perAccount)
      return sessions.insert(
        sessionRecord({
          sessionId: randomBytes(16).toString('hex').slice(0, 22),
          accountId: `acc_${perAccount}_${account}`,
          userId: `usr_${account}`,
          walletAddress: `0x${'ab'.repeat(20)}`,
          keyId: 'k'.repeat(16),
          policyIds: ['pol_0123456789abcdef'],
          scopes: ['cards.read', 'cards.write', 'subscriptions.read', 'subscriptions.write', 'users.read'],
        }),
        [],
      )
    }
    for (let done = 0; done < count; done += 500) await race(500, index => insert(done + index))
    return ((await used()) - before) / count
  }
  for (const perAccount of [1, 10]) {
    const bytes = await weigh(perAccount)
    t.comment(`measured ${Math.round(bytes)} bytes per live session in Redis, ${perAccount} per account`)
    t.ok(bytes < 2048)
  }
})
