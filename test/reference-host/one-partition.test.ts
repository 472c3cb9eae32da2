// What requests do again and again looks at one partition of each table: that of the account, as EXPLAIN says.
import { randomUUID } from 'node:crypto'
import { manualClock } from '@gatewright/kernel/testing'
import pg from 'pg'
import t from 'tap'
import { cardUser } from '../harness/card-payments.ts'
import { gatewright } from '../harness/gatewright.ts'
import { bearer, bootstrapUser, startTestHost, type HttpResponse } from '../harness/host.ts'
import { hostStoresEnv } from '../harness/host-stores.ts'
import { moneyUser, payinOf } from '../harness/money.ts'
import {
  divideTables,
  PARTITIONS,
  recordStatements,
  tablesInSeveralPartitions,
} from '../harness/partitions.ts'
import { memberOf, withdrawalBody } from '../harness/transfers.ts'

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
  [/from gw_jobs group by kind/, 'counts the waiting jobs for the metrics'],
  [/from gw_idempotency where state = 'running' and until <= /, 'counts the lost runs for the metrics'],
  [/\border by \w+ limit \$2/, 'deletes or ends some of what is due, the earliest first, of all accounts'],
  [/from gw_ledger_tail where ledger_account > /, 'finds the next ledger accounts to fold'],
  [/from gw_ledger_tail where cast\(\$1 as text\) = ''/, 'folds a house or outside account'],
]

/** The guard of each host reads all lanes of the revocation feed, in the background of whatever runs: at most one page of each. */
const FEED = /row_number\(\) over \(partition by lane order by position\) as place from gw_feed/

const clock = manualClock(Date.now())
const stores = await hostStoresEnv('postgres')
const recorded = recordStatements()
const pool = new pg.Pool({ connectionString: stores.env['DATABASE_URL'], max: 1 })
const migrated = await gatewright(['migrate'], stores.env)
if (migrated.code !== 0) throw new Error(migrated.output)
await divideTables(pool)
const host = await startTestHost({ ...stores.env, RATE_LIMITS: 'off' }, clock)
t.teardown(async () => {
  recorded.stop()
  await pool.end()
  await host.close()
  await stores.drop()
})

const done = (response: HttpResponse): HttpResponse => {
  if (response.status !== 200) throw new Error(`${response.status}: ${JSON.stringify(response.body)}`)
  return response
}
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
      if (FEED.test(text.replaceAll(/\s+/g, ' '))) continue
      t.same(await tablesInSeveralPartitions(pool, statement), [], text.replaceAll(/\s+/g, ' '))
    }
  })

t.test('background tasks look at several partitions only by statements that are listed', async t => {
  recorded.sent.splice(0)
  for (const chore of [
    'run jobs',
    'measure',
    'fold balances',
    'expire pay-ins',
    'collect garbage',
    'maintain keys',
  ])
    await host.chore(chore)
  const sent = new Map(recorded.sent.splice(0).map(statement => [statement.text, statement]))
  const unused = new Set(SEVERAL.map(([pattern]) => pattern))
  for (const [text, statement] of sent) {
    const line = text.replaceAll(/\s+/g, ' ')
    if (FEED.test(line)) continue
    const listed = SEVERAL.filter(([pattern]) => pattern.test(line))
    for (const [pattern] of listed) unused.delete(pattern)
    if (listed.length > 0) continue
    t.same(await tablesInSeveralPartitions(pool, statement), [], line)
  }
  t.same([...unused], [], 'no pattern is left over')
})

t.test('a statement without the account is found', async t => {
  const text = 'select * from gw_events where id = $1'
  t.same(await tablesInSeveralPartitions(pool, { text, values: ['evt_1'] }), [`gw_events: ${PARTITIONS}`])
  t.same(
    await tablesInSeveralPartitions(pool, {
      text: `${text} and account_id = $2`,
      values: ['evt_1', 'acc_1'],
    }),
    [],
  )
})
