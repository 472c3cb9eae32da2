// Very many rows of one account in each list of money: a page costs the same everywhere, with and without a range of time.
import pg from 'pg'
import t from 'tap'
import { buffersOf, explainQueries, nodesOf } from '../../harness/databases/explain.ts'
import { hostStoresEnv } from '../../harness/host-stores.ts'
import { startTestHost } from '../../harness/host.ts'
import { newMoneyUser } from '../harness/money.ts'
import { MANY_ROWS as ROWS } from '../../harness/turns.ts'

const MAX_BUFFERS = 80
/** Most buffers by which two pages of one list may differ. */
const MAX_DIFFERENCE = 15
const MAX_FILTERED = 100
/** A row was made in each second until then. */
const LAST = Date.UTC(2026, 0, 1)
const at = (n: number): number => LAST - (ROWS - n) * 1000
const iso = (n: number): string => new Date(at(n)).toISOString()

/** The columns of each table's rows beside `id`, `account_id` and `created_at`, as SQL of the number `n`. */
const TABLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  deposits: {
    provider: "'sandbox'",
    provider_reference: "'reference_' || n",
    currency: "'USDC'",
    network: "'base'",
    min_amount: "'1'",
    deposit_address: "'address_' || n",
    status: "'completed'",
    updated_at: '0',
  },
  withdrawals: {
    provider: "'sandbox'",
    status: "'completed'",
    amount_cents: '500',
    fee_cents: '1',
    destination: `'{"currency":"USDC","network":"base","address":"address_1"}'`,
    hold: "'{}'",
    updated_at: '0',
  },
  bills: { payee: "'A test'", amount_cents: '500', due_at: '0', paid_at: '1' },
  subscriptions: {
    effect_id: "'effect_' || n",
    plan_id: "'basic'",
    amount_cents: '500',
    plan_interval: "'month'",
  },
  authorizations: {
    card_id: '$2',
    issuer: "'sandbox'",
    status: "'cleared'",
    amount_cents: '500',
    held_cents: '0',
    currency: "'USD'",
    merchant: `'{"name":"A test","mcc":"5411","city":null,"country":"US"}'`,
  },
  transactions: {
    source_kind: "'payment'",
    source_id: "'payment_' || n",
    part: "'sent'",
    type: "'payment'",
    status: "'completed'",
    amount_cents: '5',
    direction: "'debit'",
    description: "'A test'",
    counterparty: "'0x70997970c51812dc3a010c7d01b50e0d17dc79c8'",
    updated_at: '0',
  },
}

function fill(table: string): string {
  const columns = TABLES[table] as Readonly<Record<string, string>>
  return `insert into gw_${table} (id, account_id, created_at, ${Object.keys(columns).join(', ')})
    select '${table}_' || n, $1, ${at(0)} + n::bigint * 1000, ${Object.values(columns).join(', ')}
    from generate_series(1, ${ROWS}) n`
}

t.setTimeout(1_800_000)

t.test('a page of very many rows of money costs the same everywhere, in every range', async t => {
  const stores = await hostStoresEnv('postgres')
  const host = await startTestHost({ ...stores.env, RATE_LIMITS: 'off' })
  const client = new pg.Client({ connectionString: stores.env['DATABASE_URL'] as string })
  await client.connect()
  t.teardown(async () => {
    await client.end()
    await host.close()
    await stores.drop()
  })
  const user = await newMoneyUser(host.send)
  const { id: cardId } = (await user.write('/cards', {})).body.data['card'] as { id: string }
  const { rows } = await client.query<{ account_id: string }>('select account_id from gw_users')
  await client.query('set session_replication_role = replica')
  for (const table of Object.keys(TABLES)) {
    const values = [rows[0]?.account_id, ...(table === 'authorizations' ? [cardId] : [])]
    await client.query(fill(table), values)
    await client.query(`analyze gw_${table}`)
  }

  const explained = explainQueries(text => text.includes('order by created_at desc'), 100)
  t.teardown(() => explained.stop())
  const middle = Math.floor(ROWS / 2)
  const RANGES: Readonly<Record<string, string>> = {
    everything: '',
    'the newest day': `&from=${iso(ROWS - 86_400)}`,
    'the oldest day': `&to=${iso(86_400)}`,
    'an hour in the middle': `&from=${iso(middle)}&to=${iso(middle + 3600)}`,
    'all but the newest minute': `&from=${iso(1)}&to=${iso(ROWS - 60)}`,
    'after a place in the middle': `&cursor=${Buffer.from(`at:${at(middle)}:1`).toString('base64url')}`,
    'a range after a place': `&from=${iso(100)}&cursor=${Buffer.from(`at:${at(5000)}:1`).toString('base64url')}`,
  }
  const LISTS: Readonly<Record<string, string>> = {
    '/deposits?scope=all': 'deposits',
    '/withdrawals?': 'withdrawals',
    '/bills?': 'bills',
    '/subscriptions?': 'subscriptions',
    [`/cards/${cardId}/authorizations?`]: 'authorizations',
    '/payments?': 'transactions',
  }
  for (const [path, table] of Object.entries(LISTS)) {
    const costs: Record<string, number> = {}
    for (const [name, range] of Object.entries(RANGES)) {
      const response = await user.read(`${path}&limit=50${range}`)
      if (response.status !== 200)
        throw new Error(`${path} ${name}: ${JSON.stringify([response.body, host.failures])}`)
      const [list = []] = Object.values(response.body.data).filter(each => Array.isArray(each)) as unknown[][]
      t.equal(list.length, 50, `${path} ${name}`)
      const { text, plans } = explained.found.at(-1) as (typeof explained.found)[number]
      t.match(text, `from gw_${table}`)
      for (const plan of plans)
        for (const node of nodesOf(plan)) {
          t.not(node['Node Type'], 'Seq Scan', `${path} ${name}`)
          const filtered = node['Rows Removed by Filter'] ?? 0
          t.ok(filtered <= MAX_FILTERED, `${filtered} rows read and left out: ${path} ${name}`)
        }
      costs[name] = Math.max(...plans.map(buffersOf))
    }
    const each = Object.values(costs)
    t.ok(Math.max(...each) <= MAX_BUFFERS, `${path} reads ${each.join()} buffers`)
    t.ok(Math.max(...each) - Math.min(...each) <= MAX_DIFFERENCE, `${path} reads ${each.join()} buffers`)
    t.comment(`measured buffers of ${table}: ${JSON.stringify(costs)}`)
  }
  t.same(host.failures, [])
})
