import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChildProcess } from 'node:child_process'
import { fromPgPool } from '@gatewright/kernel/sql'
import type { Policy } from '@gatewright/scope-guard'
import { migrateSpends, postgresApprovals } from '@gatewright/scope-guard/postgres'
import { redisApprovals } from '@gatewright/scope-guard/redis'
import t from 'tap'
import { startChild } from '../../harness/child.ts'
import { openPostgresPool, openRedis, uniqueName } from '../../harness/stores.ts'
import type { Go, Held } from './race.child.ts'

const HOSTS = 4
const EACH = 125

const name = uniqueName()

/** Four host processes with connections of their own, ready to spend on both stores. */
async function start(): Promise<ChildProcess[]> {
  const pool = await openPostgresPool(name, 1)
  await migrateSpends(fromPgPool(pool)).finally(() => pool.end())
  const module = new URL('./race.child.js', import.meta.url)
  const children = Array.from({ length: HOSTS }, () => startChild(module, [name]))
  t.teardown(() => children.forEach(child => child.kill('SIGKILL')))
  await Promise.all(children.map(child => once(child, 'message')))
  return children
}

/** Starts all hosts at once and returns what each held. */
async function spend(children: readonly ChildProcess[], go: (host: number) => Go): Promise<Held[]> {
  const responses = children.map(child => once(child, 'message'))
  children.forEach((child, host) => child.send(go(host)))
  const all = (await Promise.all(responses)) as [{ held?: Held[]; error?: string }][]
  const failed = all.find(([{ error }]) => error)
  if (failed) throw new Error(failed[0].error)
  return all.flatMap(([{ held }]) => held as Held[])
}

/** The connection of the owner, who is no host. */
async function ownerOf(backend: Go['backend']) {
  if (backend === 'Postgres') {
    const pool = await openPostgresPool(name, 2)
    return { approvals: postgresApprovals(fromPgPool(pool)), close: () => pool.end() }
  }
  const { connections, close } = await openRedis(1)
  const [redis] = connections
  if (!redis) throw new Error('no connection to Redis')
  return { approvals: redisApprovals(redis, { prefix: `${name}:a:` }), close }
}

const children = await start()

const perDay = (maxCents: number): Policy => ({ dailyWithdrawalCapCents: maxCents })
const rolling = (maxCents: number): Policy => ({
  limits: [{ operations: ['withdrawals.*'], maxCents, window: '24h' }],
})
const PAYEES = { payees: ['account:acc_1'] }

for (const backend of ['Redis', 'Postgres'] as const) {
  const reserveAll = async (policy: Policy): Promise<Held[]> => {
    const account = uniqueName()
    return spend(children, () => ({ backend, account, policy, amounts: Array<number>(EACH).fill(10) }))
  }

  t.test(`accepts exactly the 100 that fit of 500 reservations from 4 processes on ${backend}`, async t => {
    const held = await reserveAll(perDay(1000))
    t.equal(held.length, 500)
    t.equal(held.filter(({ amount }) => amount === 10).length, 100)
  })

  t.test(`accepts exactly the 100 that fit in 24 hours, from 4 processes on ${backend}`, async t => {
    const held = await reserveAll({ ...rolling(1000), ...PAYEES })
    t.equal(held.length, 500)
    t.equal(held.filter(({ amount }) => amount === 10).length, 100)
  })

  t.test(`accepts exactly what fits while an owner approves, from 4 processes on ${backend}`, async t => {
    const account = uniqueName()
    const { approvals, close } = await ownerOf(backend)
    const over = new AbortController()
    const owner = async (): Promise<void> => {
      while (!over.signal.aborted) {
        for (const { id, state } of await approvals.list(account, Date.now()))
          if (state === 'pending')
            await approvals.decide(account, id, { state: 'approved', by: 'owner' }, Date.now())
        await sleep(5)
      }
    }
    const policy: Policy = {
      ...perDay(1000),
      approveAboveCents: 15,
      limits: [{ operations: ['withdrawals.*'], window: 'day', approveAboveCents: 900 }],
    }
    // Of each five two are above the threshold of one operation. All others are 960 cents: more than 900, and too few to fill the day.
    const amounts = Array.from({ length: 40 }, (_, index) => (index % 5 < 3 ? 10 : 20))
    const approving = owner()
    const held = await spend(children, () => ({ backend, account, policy, amounts }))
    over.abort()
    await approving
    await close()
    const sum = (all: readonly Held[]): number => all.reduce((total, { amount }) => total + amount, 0)
    t.equal(held.length, 160)
    t.equal(sum(held), 1000)
    t.ok(held.some(({ amount }) => amount === 20))
    t.same(
      held.filter(({ amount, asked }) => amount === 20 && !asked),
      [],
      'nothing above the threshold without its owner',
    )
    t.ok(sum(held.filter(({ asked }) => !asked)) <= 900, 'and not more than that of the day')
  })

  t.test(`keeps random amounts from 4 processes on ${backend} at or below the cap together`, async t => {
    const account = uniqueName()
    const random = (): number[] => Array.from({ length: EACH }, () => randomInt(1, 200))
    const held = await spend(children, () => ({ backend, account, policy: perDay(5000), amounts: random() }))
    const sum = held.reduce((total, { amount }) => total + amount, 0)
    t.ok(sum <= 5000 && sum > 4800, `${sum} of 5000 cents were held`)
  })
}
