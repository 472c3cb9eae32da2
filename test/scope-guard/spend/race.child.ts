// One host of the spend race: reserves under one policy through its own guards and its own connections.
import { setTimeout as sleep } from 'node:timers/promises'
import { fromPgPool } from '@gatewright/kernel/sql'
import { createGuard, type Guard, type Policy } from '@gatewright/scope-guard'
import type { Rule } from '@gatewright/kernel'
import { postgresApprovals, postgresSpends } from '@gatewright/scope-guard/postgres'
import { redisApprovals, redisSpends } from '@gatewright/scope-guard/redis'
import { openPostgresPool, openRedis } from '../../harness/stores.ts'
import { session } from '../issuer.ts'

/** What the parent asks for: one reservation per amount, all at once, each by a key and session of its own. */
export interface Go {
  readonly backend: 'Redis' | 'Postgres'
  readonly account: string
  readonly policy: Policy
  readonly amounts: readonly number[]
}

const name = process.argv[2] as string
const { connections } = await openRedis(1)
const [redis] = connections
if (!redis) throw new Error('no connection to Redis')
const db = fromPgPool(await openPostgresPool(name, 8))
const stores = {
  Redis: [redisSpends(redis, { prefix: `${name}:` }), redisApprovals(redis, { prefix: `${name}:a:` })],
  Postgres: [postgresSpends(db), postgresApprovals(db)],
} as const

let policy: unknown
const guardOf = (backend: Go['backend']): Guard => {
  const [spend, store] = stores[backend]
  return createGuard({
    issuer: 'i',
    audience: 'a',
    keys: async () => undefined,
    limits: [],
    storeTimeoutMs: 60_000,
    policies: async ids => ids.map(() => policy),
    spend,
    approvals: { store, url: () => 'https://pay.test/approvals', mostOpen: 100 },
  })
}
const guards: Readonly<Record<Go['backend'], Guard>> = {
  Redis: guardOf('Redis'),
  Postgres: guardOf('Postgres'),
}
const rule: Rule = { operation: 'withdrawals.create', allOf: [], spends: 'withdrawal' }

/** What became of one reservation. */
export interface Held {
  /** 0: it was denied. */
  readonly amount: number
  /** Whether its owner had to approve it. */
  readonly asked: boolean
}

/** Reserves, and asks and tries again until its owner has approved, or a cap denies it. */
async function reserve(guard: Guard, account: string, index: number, amountCents: number): Promise<Held> {
  const holder = session(Date.now(), {
    accountId: account,
    sessionId: `ses_${process.pid}_${index}`,
    keyId: `key_${process.pid}_${index % 7}`,
    keyVersion: 1 + (index % 3),
    // Policies are cached by their ids.
    policyIds: [account],
  })
  const access = await guard.authorize(holder, { authorization: undefined }, rule)
  if (!access.ok) throw new Error(access.code)
  const effectId = `effect-${process.pid}-${index}`
  const spend = {
    amountCents,
    currency: 'USD',
    payee: 'account:acc_1',
    holdId: effectId,
    approval: { requestId: effectId, effectId },
  }
  for (let asked = false; ; asked = true) {
    const hold = await guard.reserve(access.value, spend)
    if (hold.ok) return { amount: amountCents, asked }
    if (hold.code !== 'approval_required') return { amount: 0, asked }
    await guard.requestApproval(access.value, spend)
    await sleep(10)
  }
}

process.on('message', ({ backend, account, policy: current, amounts }: Go) => {
  policy = current
  void Promise.all(amounts.map((amount, index) => reserve(guards[backend], account, index, amount))).then(
    held => process.send?.({ held }),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
process.once('disconnect', () => process.exit())
process.send?.('ready')
