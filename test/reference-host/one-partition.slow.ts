// What requests do again and again looks at one partition of each table: that of the account, as EXPLAIN says. And Citus refuses no statement
// of requests and background tasks.
import { randomUUID } from 'node:crypto'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { cardUser } from './harness/card-payments.ts'
import { bearer, bootstrapUser, startTestHost } from '../harness/host.ts'
import { CHORES, done } from './harness/host-work.ts'
import { moneyUser, payinOf } from './harness/money.ts'
import { refusals, severalPartitions } from './harness/citus-refusals.ts'
import { openDivided, planOf, PARTITIONS, recordStatements } from './harness/partitions.ts'
import { memberOf, withdrawalBody } from './harness/transfers.ts'

/**
 * Statements that look at several partitions, by a part of their text, with the reason. None of them runs for a request: they are sent by
 * background tasks, which work for all accounts.
 */
const SEVERAL: readonly (readonly [text: RegExp, reason: string])[] = [
  [/from gw_jobs where due_at <= /, 'leases the due jobs of all accounts, every five seconds'],
  [
    /key_lineage_id from gw_cards|delete from gw_card_key_policies/,
    'keeps the policies of ended keys for their cards',
  ],
  [/from gw_idempotency where state = 'running' and until /, 'finds the lost runs of all accounts'],
  [/from gw_open_payins where chain_id is null/, 'finds the pay-ins that have passed their deadline'],
  [/from gw_jobs group by kind/, 'counts the waiting jobs for the metrics'],
  [/from gw_idempotency where state = 'running' and until <= /, 'counts the lost runs for the metrics'],
  [/\border by \w+ limit \$2/, 'deletes or ends some of what is due, the earliest first, of all accounts'],
  [/from gw_ledger_tail where ledger_account > /, 'finds the next ledger accounts to fold'],
  [/from gw_ledger_tail where cast\(\$1 as text\) = ''/, 'folds a house or outside account'],
]

/** The guard of each host reads all lanes of the revocation feed, in the background of whatever runs: at most one page of each. */
const FEED = /row_number\(\) over \(partition by lane order by position\) as place from gw_feed/

const clock = manualClock(Date.now())
const recorded = recordStatements()
const divided = await openDivided()
const { pool } = divided
const host = await startTestHost({ ...divided.env, RATE_LIMITS: 'off' }, clock)
t.teardown(async () => {
  recorded.stop()
  await host.close()
  await divided.close()
})

const ann = await bootstrapUser(host.send, { sessionTtlSeconds: 86_400 }, clock.now())
const ben = await bootstrapUser(host.send, { sessionTtlSeconds: 86_400 }, clock.now())
const money = moneyUser(host.send, ann)
const cards = cardUser(host.send, ann.token)
const made = { card: '', payin: '', authorization: '' }

/** What a host does most, in order. Add what your module does for many requests. */
const HOT: readonly (readonly [what: string, run: () => Promise<unknown>])[] = [
  ['sign in with a wallet', () => bootstrapUser(host.send, { sessionTtlSeconds: 86_400 }, clock.now())],
  [
    'exchange a key for a session',
    async () => done(await host.send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': ann.key } })),
  ],
  ['deposit', async () => done(await money.fund(100_000))],
  ['read the balance', async () => done(await money.read('/balances'))],
  [
    'create a pay-in',
    async () => {
      made.payin = payinOf(await money.write('/subscriptions/payin', { plan: 'pro', method: 'balance' })).id
    },
  ],
  [
    'pay a pay-in from the balance',
    async () => done(await money.write('/subscriptions/payin/confirm-balance', { payinId: made.payin })),
  ],
  ['read a pay-in', () => money.payin(made.payin)],
  [
    'pay somebody',
    async () =>
      done(await money.write('/payments', { to: { walletAddress: ben.address }, amountCents: 300 })),
  ],
  [
    'repeat a write',
    async () => {
      const key = randomUUID()
      for (const _ of [1, 2])
        done(await money.write('/payments', { to: { walletAddress: ben.address }, amountCents: 300 }, key))
    },
  ],
  [
    'create a card',
    async () => {
      made.card = await cards.card()
    },
  ],
  [
    'authorize a card payment',
    async () => {
      made.authorization = (await cards.pay(made.card)).id
    },
  ],
  ['clear a card payment', async () => done(await cards.later(made.authorization, 'clear'))],
  [
    'withdraw',
    async () => void memberOf(await money.write('/withdrawals', withdrawalBody(2500)), 'withdrawal'),
  ],
  ['list transactions', async () => done(await money.read('/transactions'))],
  ['list notifications', async () => done(await money.read('/notifications'))],
  ['list cards', async () => done(await host.send('/user/v1/cards', { headers: bearer(ann.token) }))],
]

for (const [what, run] of HOT)
  t.test(`${what}: one partition of each table`, async t => {
    recorded.sent.splice(0)
    await run()
    const sent = new Map(recorded.sent.splice(0).map(statement => [statement.text, statement]))
    t.ok(sent.size > 0, 'statements were recorded')
    for (const [text, statement] of sent) {
      const line = text.replaceAll(/\s+/g, ' ')
      const plan = await planOf(pool, statement)
      t.same(refusals(text, plan), [], `Citus runs ${line}`)
      if (!FEED.test(line)) t.same([...severalPartitions(plan)], [], line)
    }
  })

t.test('background tasks look at several partitions only by statements that are listed', async t => {
  recorded.sent.splice(0)
  for (const chore of CHORES) await host.chore(chore)
  const sent = new Map(recorded.sent.splice(0).map(statement => [statement.text, statement]))
  const unused = new Set(SEVERAL.map(([pattern]) => pattern))
  for (const [text, statement] of sent) {
    const line = text.replaceAll(/\s+/g, ' ')
    const plan = await planOf(pool, statement)
    t.same(refusals(text, plan), [], `Citus runs ${line}`)
    if (FEED.test(line)) continue
    const listed = SEVERAL.filter(([pattern]) => pattern.test(line))
    for (const [pattern] of listed) unused.delete(pattern)
    if (listed.length > 0) continue
    t.same([...severalPartitions(plan)], [], line)
  }
  t.same([...unused], [], 'no pattern is left over')
})

t.test('a statement without the account is found', async t => {
  const text = 'select * from gw_events where id = $1'
  const found = async (...given: [text: string, values: readonly string[]]): Promise<unknown> => [
    ...severalPartitions(await planOf(pool, { text: given[0], values: given[1] })),
  ]
  t.same(await found(text, ['evt_1']), [['gw_events', PARTITIONS]])
  t.same(await found(`${text} and account_id = $2`, ['evt_1', 'acc_1']), [])
})

/** Statements that the host had and Citus refuses, what is wrong, and the form that it runs. */
const REFUSED: readonly (readonly [why: string, refused: string, runs: string])[] = [
  [
    'joins a lateral query to values',
    `select page.* from (values ('0', 5::bigint), ('1', 7)) as reader (lane, position) cross join lateral
      (select id from gw_feed as feed where feed.lane = reader.lane and feed.position > reader.position order by feed.position limit 9) as page`,
    `select id from (select id, row_number() over (partition by lane order by position) as place from gw_feed
      where (lane = '0' and position > 5) or (lane = '1' and position > 7)) as page where place <= 9`,
  ],
  [
    'has a query in the values of an insert',
    `insert into gw_event_lanes (lane, position) values (99, (select coalesce(max(at), 0) + 1 from gw_events where account_id = 'a'))`,
    `insert into gw_event_lanes (lane, position) select 99, coalesce(max(at), 0) + 1 from gw_events where account_id = 'a'`,
  ],
  [
    'locks rows of several shards',
    `update gw_jobs set attempts = 1 where (account_id, kind, subject_id) in
      (select account_id, kind, subject_id from gw_jobs where due_at <= 1 order by due_at limit 5 for update skip locked)`,
    `update gw_jobs set attempts = 1 where due_at <= 1 and (account_id, kind, subject_id) in
      (select account_id, kind, subject_id from gw_jobs where due_at <= 1 order by due_at limit 5)`,
  ],
  [
    'locks rows of several shards',
    'select ledger_account from gw_ledger_tail where amount_cents > 0 for no key update',
    `select ledger_account from gw_ledger_tail where account_id = 'acc_1' and amount_cents > 0 for no key update`,
  ],
  [
    'has a correlated query on several shards beside a reference table',
    `select lane from gw_event_lanes lanes where exists (select 1 from gw_waiting_events w where w.lane = lanes.lane)`,
    'select distinct lane from gw_waiting_events order by lane',
  ],
  [
    'has a correlated query on several shards beside a reference table',
    `select tx_hash from gw_unmatched_transfers where handled_at is null and not exists (select 1 from gw_payin_transfers t
      where t.tx_hash = gw_unmatched_transfers.tx_hash and t.settled = 1) order by position desc limit 5`,
    "select tx_hash from gw_payin_transfers where settled = 1 and chain_id in (1, 2) and tx_hash in ('a', 'b')",
  ],
  [
    'joins shards by other columns than those that divide them',
    `delete from gw_card_key_policies where not exists (select 1 from gw_cards
      where key_account_id = gw_card_key_policies.account_id and key_lineage_id = lineage_id)`,
    `delete from gw_card_key_policies where (account_id, lineage_id) not in
      (select key_account_id, key_lineage_id from gw_cards where key_lineage_id is not null)`,
  ],
  [
    'locks rows of several shards',
    `with due as (select account, counter from gw_spend_counters where expires_at < 1 for update)
      select account from due`,
    `with due as (select account, counter from gw_spend_counters where account = 'a' and expires_at < 1 for update)
      select account from due`,
  ],
]

for (const [index, [why, refused, runs]] of REFUSED.entries())
  t.test(`what Citus refuses is found: ${index + 1}, it ${why}`, async t => {
    t.same(refusals(refused, await planOf(pool, { text: refused, values: [] })), [why])
    t.same(refusals(runs, await planOf(pool, { text: runs, values: [] })), [])
  })
