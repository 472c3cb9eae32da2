// Very many transactions of one account in Postgres: the first page and the last cost the same, with and without filters.
import pg from 'pg'
import t from 'tap'
import { buffersOf, explainQueries, nodesOf } from '../../../harness/databases/explain.ts'
import { hostStoresEnv } from '../../../harness/host-stores.ts'
import { startTestHost } from '../../../harness/host.ts'
import { newMoneyUser } from '../../harness/money.ts'
import { MANY_ROWS as ROWS } from '../../../harness/turns.ts'

/** Most buffers by which two pages of one list may differ. */
const MAX_DIFFERENCE = 15
const MAX_BUFFERS = 120
/** Most buffers of a page that tests 500 rows. */
const MAX_SCAN_BUFFERS = 600

/**
 * Rows of one account. Most are by one card and one key. Every 100th is a payment to one of 5000 others; all of type `collateral`,
 * and all that failed, are among the oldest.
 */
const fill = (accountId: string): readonly string[] => [
  'set session_replication_role = replica',
  `insert into gw_transactions (id, account_id, source_kind, source_id, part, type, status, amount_cents,
      direction, description, card_id, counterparty, key_id, created_at, updated_at)
    select 'txn_' || n || '_' || side, case side when 1 then '${accountId}' else 'acc_' || n % 5000 end,
      case when n % 100 = 0 then 'payment' else 'authorization' end, 'source_' || n,
      case side when 1 then 'sent' else 'received' end,
      case when n % 100 = 0 then 'payment' when n <= 500 then 'collateral' else 'spend' end,
      case when n % 50 = 0 and n <= 1000 then 'failed' else 'completed' end, 5, case side when 1 then 'debit' else 'credit' end, 'A test',
      case when n % 100 > 0 and n > 500 then 'card_' || case when n % 1000 = 1 then 2 else 1 end end,
      case when n % 100 = 0 then 'wallet_' || n % 5000 end, case when n % 1000 = 1 then 'key_2' else 'key_1' end, n, n
    from generate_series(1, ${ROWS}) n, generate_series(1, 2) side
    where side = 1 or n % 100 = 0 order by n, side`,
  'analyze gw_transactions',
]

t.setTimeout(1_800_000)

t.test('the first page of very many transactions costs what the last one does', async t => {
  const stores = await hostStoresEnv('postgres')
  const url = stores.env['DATABASE_URL'] as string
  const host = await startTestHost({ ...stores.env, RATE_LIMITS: 'off' })
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(async () => {
    await client.end()
    await host.close()
    await stores.drop()
  })
  const user = await newMoneyUser(host.send)
  const { rows } = await client.query<{ account_id: string }>('select account_id from gw_users')
  for (const statement of fill(rows[0]?.account_id as string)) await client.query(statement)

  const explained = explainQueries(text => text.includes('gw_transactions'), 30)
  t.teardown(() => explained.stop())
  const costs: Record<string, number[]> = {}
  /** Of full pages only: one that is not full reads less. */
  const full: Record<string, number[]> = {}
  for (const list of [
    '/transactions?',
    '/transactions?type=spend&',
    '/transactions?type=collateral&',
    '/transactions?type=collateral,fee,payment,spend&',
    '/transactions?cardId=card_1&',
    '/transactions?cardId=card_2&',
    '/transactions?cardId=card_1&type=payment&',
    '/transactions?status=completed&',
    '/transactions?status=failed&',
    '/transactions?status=failed&type=payment&',
    '/transactions?keyId=key_1&',
    '/transactions?keyId=key_2&',
    `/transactions?from=1970-01-01T00:00:01Z&to=${new Date(ROWS - 1000).toISOString()}&`,
    '/transactions?id=bill_1&',
    '/payments?',
    `/payments?from=1970-01-01T00:00:01Z&to=${new Date(ROWS - 1000).toISOString()}&`,
  ]) {
    for (const after of [0, ROWS - 100_000, ROWS / 2, 100_000, 1500]) {
      const cursor = after === 0 ? '' : `&cursor=${Buffer.from(`at:${after}:1`).toString('base64url')}`
      const response = await user.read(`${list}limit=50${cursor}`)
      t.equal(response.status, 200)
      const { text, plans } = explained.found.at(-1) as (typeof explained.found)[number]
      for (const plan of plans) {
        const whole = nodesOf(plan).filter(
          node => node['Node Type'] === 'Seq Scan' && node['Relation Name'] === 'gw_transactions',
        )
        t.same(whole, [], `no whole table: ${list} ${text.slice(0, 80)}`)
        const filtered = Math.max(...nodesOf(plan).map(node => node['Rows Removed by Filter'] ?? 0))
        t.ok(filtered <= 100, `${filtered} rows read and filtered out: ${list} after ${after}`)
      }
      const cost = Math.max(...plans.map(buffersOf))
      costs[list] = [...(costs[list] ?? []), cost]
      if (response.body.data['nextCursor'] !== null) full[list] = [...(full[list] ?? []), cost]
    }
  }
  // Filters without an index of their own read at most 500 rows of another one, wherever the page is.
  for (const list of ['keyId=key_1&status=failed', 'keyId=key_2&type=payment', 'cardId=card_1&status=failed'])
    for (const at of [ROWS, ROWS / 2, 1500]) {
      const cursor = Buffer.from(`at:${at}:1`).toString('base64url')
      t.equal((await user.read(`/transactions?${list}&limit=50&cursor=${cursor}`)).status, 200)
      const { plans } = explained.found.at(-1) as (typeof explained.found)[number]
      for (const plan of plans)
        for (const node of nodesOf(plan)) {
          t.not(node['Node Type'], 'Seq Scan', list)
          if (node['Relation Name'] === 'gw_transactions')
            t.ok((node['Actual Rows'] ?? 0) <= 500, `${node['Actual Rows']} rows read: ${list}`)
        }
      const cost = Math.max(...plans.map(buffersOf))
      t.ok(cost <= MAX_SCAN_BUFFERS, `${cost} buffers: ${list} before ${at}`)
    }
  for (const [list, each] of Object.entries(costs)) {
    t.ok(Math.max(...each) <= MAX_BUFFERS, `${list} reads ${each.join()} buffers`)
    const pages = full[list] ?? [0]
    t.ok(
      Math.max(...pages) - Math.min(...pages) <= MAX_DIFFERENCE,
      `a page costs the same everywhere: ${list} ${pages.join()}`,
    )
  }
  // As if an account had 20 rows on average, and no payment: a plan for all accounts is then one for few rows.
  explained.stop()
  await client.query(`alter table gw_transactions alter column account_id set (n_distinct = ${ROWS / 20})`)
  await client.query('analyze gw_transactions')
  const other = await newMoneyUser(host.send)
  await other.fund(1000)
  await user.fund(1000)
  const isRead = (text: string): boolean => /^select .* from gw_transactions\s+where .*source_id/s.test(text)
  const reads = explainQueries(isRead, 30)
  t.teardown(() => reads.stop())
  for (const [payer, { address }] of [
    [user, other],
    [other, user],
  ] as const)
    t.equal((await payer.write('/payments', { to: { walletAddress: address }, amountCents: 1 })).status, 200)
  t.equal((await user.read('/notifications')).status, 200)
  t.ok(reads.found.length > 2, 'payments look for themselves, and notifications for their keys')
  for (const { text, plans } of reads.found)
    for (const plan of plans)
      t.ok(buffersOf(plan) <= MAX_BUFFERS, `${buffersOf(plan)} buffers for one object: ${text.slice(0, 300)}`)
  t.comment(`measured buffers of pages: ${JSON.stringify(costs)}`)
  t.same(host.failures, [])
})
