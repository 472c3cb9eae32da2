// One host of the spend race: reserves under one policy through its own guard and its own connections.
import { fromPgPool } from '@gatewright/kernel/sql'
import { createGuard, type Policy, type SpendStorage } from '@gatewright/scope-guard'
import type { Rule } from '@gatewright/kernel'
import { postgresSpends } from '@gatewright/scope-guard/postgres'
import { redisSpends } from '@gatewright/scope-guard/redis'
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
const stores: Readonly<Record<Go['backend'], SpendStorage>> = {
  Redis: redisSpends(connections[0]!, { prefix: `${name}:` }),
  Postgres: postgresSpends(fromPgPool(await openPostgresPool(name, 8))),
}

let policy: unknown
const guard = createGuard({
  issuer: 'i',
  audience: 'a',
  keys: async () => undefined,
  limits: [],
  storeTimeoutMs: 60_000,
  policies: async ids => ids.map(() => policy),
})
const rule: Rule = { operation: 'withdrawals.create', allOf: [], spends: 'withdrawal' }

async function reserve(storage: SpendStorage, account: string, index: number, amountCents: number) {
  const holder = session(Date.now(), {
    accountId: account,
    sessionId: `ses_${process.pid}_${index}`,
    keyId: `key_${process.pid}_${index % 7}`,
    keyVersion: 1 + (index % 3),
    policyIds: ['root'],
  })
  const access = await guard.authorize(holder, { authorization: undefined }, rule)
  if (!access.ok) throw new Error(access.code)
  const hold = await guard.reserve(
    access.value,
    { amountCents, currency: 'USD', payee: 'account:acc_1' },
    storage,
  )
  return hold.ok ? amountCents : 0
}

process.on('message', ({ backend, account, policy: current, amounts }: Go) => {
  policy = current
  void Promise.all(amounts.map((amount, index) => reserve(stores[backend], account, index, amount))).then(
    held => process.send?.({ held }),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
process.once('disconnect', () => process.exit())
process.send?.('ready')
