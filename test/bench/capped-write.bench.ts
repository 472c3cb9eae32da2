// What caps add to a guarded write in one transaction on SQLite: a cached token, the record of the idempotency key, the reservation and a row.
// Bar: payees and a rolling window cost at most 10 % more CPU than a daily cap.
import { randomUUID } from 'node:crypto'
import { migrateIdempotency, sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import type { SqlClient } from '@gatewright/kernel/sql'
import { defer } from '@gatewright/kernel/internal/sql'
import { createGuard, localKeys } from '@gatewright/scope-guard'
import { migrateSpends, sqliteSpends } from '@gatewright/scope-guard/sqlite'
import { openSqlite } from '../harness/stores.ts'
import { compare } from './harness.ts'
import { BENCH_AUDIENCE, BENCH_ISSUER, benchTokens } from './tokens.ts'

const HOUR = 3_600_000
/** How many accounts pay in turn. */
const ACCOUNTS = 50
const RULE = { operation: 'subscriptions.payin', allOf: ['subscriptions.write'], spends: 'spend' } as const
const POLICIES = {
  none: undefined,
  daily: { dailySpendCapCents: Number.MAX_SAFE_INTEGER },
  rolling: {
    payees: ['country:DE', 'merchant:Corner Shop'],
    limits: [{ operations: ['subscriptions.*'], window: '24h', maxCents: Number.MAX_SAFE_INTEGER }],
  },
} as const
const spend = {
  amountCents: 100,
  currency: 'USD',
  payee: ['merchant:Corner Shop', 'country:DE'],
  isSpent: true,
}
const body = Buffer.from(JSON.stringify({ amountCents: 100, note: 'x'.repeat(200) }))
const reply = { status: 201, headers: [['content-type', 'application/json']], body: '{"ok":true}' } as const

/** Makes the write of a key under a policy, in a database of its own. */
async function writes(policy: object | undefined) {
  const { connections, close } = await openSqlite(1, async db => {
    await migrateIdempotency(db)
    await migrateSpends(db)
    await db.transaction(tx =>
      defer(tx, 'create table payments (id text primary key, account text not null)'),
    )
  })
  const db = connections[0] as SqlClient
  const { tokens, jwk } = await benchTokens(ACCOUNTS, { policyIds: policy ? ['pol_1'] : [] })
  let ahead = -24 * HOUR
  const guard = createGuard({
    issuer: BENCH_ISSUER,
    audience: BENCH_AUDIENCE,
    keys: localKeys({ keys: [jwk] }),
    policies: async ids => ids.map(() => policy),
    limits: [],
    cacheSeconds: 3600,
    clock: { now: () => Date.now() + ahead },
    spend: sqliteSpends(db),
    clockToleranceSeconds: 60,
  })
  const transactions = createTransactionalIdempotency({ db, storage: sqliteIdempotency })
  const write = async (index: number): Promise<void> => {
    const access = await guard.check({ authorization: `Bearer ${tokens[index % ACCOUNTS]}` }, RULE)
    if (!access.ok) throw new Error(access.code)
    const { accountId } = access.value.session
    const facts = { account: accountId, operation: RULE.operation, key: randomUUID(), method: 'POST', body }
    const run = await transactions.run(facts, async tx => {
      const reserved = await guard.reserve(access.value, spend, sqliteSpends(tx))
      if (!reserved.ok) throw new Error(reserved.code)
      await defer(tx, 'insert into payments (id, account) values ($1, $2)', [reserved.value.id, accountId])
      return reply
    })
    if (!run.ok) throw new Error(run.code)
  }
  // A bucket of each of the last 24 hours has something.
  const session = (index: number) => ({ accountId: `acc_${index}` })
  for (; ahead < 0; ahead += HOUR) {
    for (let index = 0; index < ACCOUNTS; index++) {
      const documents = policy ? [{ id: 'pol_1', document: policy }] : []
      const access = guard.checkPolicies(session(index).accountId, documents, RULE)
      if (access.ok) await guard.reserve(access.value, spend)
    }
  }
  return { write, close }
}

const [none, daily, rolling] = [
  await writes(POLICIES.none),
  await writes(POLICIES.daily),
  await writes(POLICIES.rolling),
]
await compare('a guarded write on SQLite: payees and a rolling window of 24 hours', {
  ours: { name: 'payees, 24h', run: rolling.write },
  peers: [
    { name: 'a daily cap', run: daily.write, minRatio: 1 / 1.1 },
    { name: 'no policy', run: none.write },
  ],
  operations: 500,
})
for (const each of [none, daily, rolling]) await each.close()
