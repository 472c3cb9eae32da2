// What a host costs the databases: CPU of a payment, a read and an idle host, and how Citus runs the statements of each operation. Prints
// figures and holds them against no bar. `TEST_SERVER_PIDS` has the process ids of the database servers, with commas. Without
// `TEST_CITUS` it measures one Postgres, to compare.
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { cardUser } from '../reference-host/harness/card-payments.ts'
import { ON_CITUS } from '../harness/databases/citus.ts'
import { usedCpuMs } from '../harness/run/cpu-time.ts'
import { bootstrapUser, startTestHost } from '../harness/host.ts'
import { hostStoresEnv } from '../harness/host-stores.ts'
import { done } from '../reference-host/harness/host-work.ts'
import { moneyUser, payinOf, type MoneyUser } from '../reference-host/harness/money.ts'
import { recordStatements, type SentStatement } from '../reference-host/harness/partitions.ts'
import { memberOf, withdrawalBody } from '../reference-host/harness/transfers.ts'

const ACCOUNTS = 24
const ROUNDS = 400
const IDLE_MS = 20_000

t.setTimeout(600_000)

const stores = await hostStoresEnv('postgres')
const host = await startTestHost({ ...stores.env, RATE_LIMITS: 'off' })
const pool = new pg.Pool({ connectionString: stores.env['DATABASE_URL'] as string, max: 1 })
t.teardown(async () => {
  await host.close()
  await pool.end()
  await stores.drop()
})
const users = await Promise.all(
  Array.from({ length: ACCOUNTS }, () => bootstrapUser(host.send, { sessionTtlSeconds: 86_400 })),
)
const owners = users.map(user => moneyUser(host.send, user))
for (const owner of owners) done(await owner.fund(1_000_000))
const ownerOf = (index: number): MoneyUser => owners[index % ACCOUNTS] as MoneyUser
const pay = async (index: number): Promise<unknown> => {
  const to = { walletAddress: users[(index * 7 + 1) % ACCOUNTS]?.address }
  return done(await ownerOf(index).write('/payments', { to, amountCents: 1 }))
}
const read = async (index: number): Promise<unknown> => done(await ownerOf(index).read('/balances'))

/** CPU of the database servers until now, in ms. */
function databasesCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return usedCpuMs() - (user + system) / 1000
}

t.test('prints the CPU of a payment, a read and an idle host', async t => {
  for (const [name, work] of [
    ['payment', pay],
    ['balance', read],
  ] as const)
    for (const clients of [1, 16]) {
      for (let index = 0; index < 50; index++) await work(index)
      const [cpuMs, own, startedAt] = [databasesCpuMs(), process.cpuUsage(), performance.now()]
      let next = 0
      await Promise.all(
        Array.from({ length: clients }, async () => {
          while (next < ROUNDS) await work(next++)
        }),
      )
      const seconds = (performance.now() - startedAt) / 1000
      const { user, system } = process.cpuUsage(own)
      t.comment(
        `measured: ${name}, ${clients} clients: ${Math.round(ROUNDS / seconds)}/s, databases ${((databasesCpuMs() - cpuMs) / ROUNDS).toFixed(2)} ms each, host and client ${((user + system) / 1000 / ROUNDS).toFixed(2)} ms each`,
      )
      t.ok(seconds > 0)
    }
  const cpuMs = databasesCpuMs()
  await delay(IDLE_MS)
  t.comment(
    `measured: an idle host: databases ${Math.round((databasesCpuMs() - cpuMs) / (IDLE_MS / 1000))} ms a second`,
  )
})

/** How Citus runs a statement. */
async function wayOf({ text, values }: SentStatement): Promise<string> {
  try {
    const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain (verbose off) ${text}`, [...values])
    const plan = rows.map(row => row['QUERY PLAN']).join('\n')
    if (!plan.includes('Citus')) return 'on the coordinator'
    const tasks = Number(/Task Count: (\d+)/.exec(plan)?.[1] ?? 0)
    return plan.includes('Distributed Subplan') || /repartition|coordinator/.test(plan)
      ? 'in steps'
      : tasks <= 1
        ? 'one shard'
        : 'several shards'
  } catch {
    return 'not explained'
  }
}

if (ON_CITUS)
  t.test('prints how Citus runs the statements of each operation', async t => {
    const [ann, ben] = users as [(typeof users)[number], (typeof users)[number]]
    const money = moneyUser(host.send, ann)
    const cards = cardUser(host.send, ann.token)
    let payinId = ''
    let cardId = ''
    let authorizationId = ''
    const operations: Record<string, () => Promise<unknown>> = {
      bootstrap: () => bootstrapUser(host.send),
      'key to session': async () =>
        done(await host.send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': ann.key } })),
      deposit: async () => done(await money.fund(100_000)),
      'pay-in': async () => {
        payinId = payinOf(await money.write('/subscriptions/payin', { plan: 'pro', method: 'balance' })).id
      },
      confirm: async () => done(await money.write('/subscriptions/payin/confirm-balance', { payinId })),
      payment: async () =>
        done(await money.write('/payments', { to: { walletAddress: ben.address }, amountCents: 1 })),
      card: async () => {
        cardId = await cards.card()
      },
      authorize: async () => {
        authorizationId = (await cards.pay(cardId)).id
      },
      clear: async () => done(await cards.later(authorizationId, 'clear')),
      withdraw: async () => memberOf(await money.write('/withdrawals', withdrawalBody(2500)), 'withdrawal'),
      balance: async () => done(await money.read('/balances')),
      transactions: async () => done(await money.read('/transactions')),
    }
    for (const [name, operation] of Object.entries(operations)) {
      const recorded = recordStatements()
      await operation()
      recorded.stop()
      // Statements of background tasks read other tables, and are the same in all operations.
      const counts: Record<string, number> = {}
      const notPlain: string[] = []
      for (const statement of recorded.sent) {
        const way = await wayOf(statement)
        counts[way] = (counts[way] ?? 0) + 1
        if (way !== 'one shard')
          notPlain.push(`${way}: ${statement.text.replaceAll(/\s+/g, ' ').slice(0, 110)}`)
      }
      t.comment(`measured: ${name}: ${recorded.sent.length} statements ${JSON.stringify(counts)}`)
      for (const line of notPlain) t.comment(`measured:    ${line}`)
      t.ok(recorded.sent.length > 0)
    }
  })
