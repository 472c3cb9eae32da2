import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import type { ChildProcess } from 'node:child_process'
import { fromPgPool } from '@gatewright/kernel/sql'
import type { Policy } from '@gatewright/scope-guard'
import { migrateSpends } from '@gatewright/scope-guard/postgres'
import t from 'tap'
import { startChild } from '../../harness/child.ts'
import { openPostgresPool, uniqueName } from '../../harness/stores.ts'
import type { Go } from './race.child.ts'

const HOSTS = 4
const EACH = 125

/** Four host processes with connections of their own, ready to spend on both stores. */
async function start(): Promise<ChildProcess[]> {
  const name = uniqueName()
  const pool = await openPostgresPool(name, 1)
  await migrateSpends(fromPgPool(pool)).finally(() => pool.end())
  const module = new URL('./race.child.js', import.meta.url)
  const children = Array.from({ length: HOSTS }, () => startChild(module, [name]))
  t.teardown(() => children.forEach(child => child.kill('SIGKILL')))
  await Promise.all(children.map(child => once(child, 'message')))
  return children
}

/** Starts all hosts at once and returns what each held. */
async function spend(children: readonly ChildProcess[], go: (host: number) => Go): Promise<number[]> {
  const responses = children.map(child => once(child, 'message'))
  children.forEach((child, host) => child.send(go(host)))
  const all = (await Promise.all(responses)) as [{ held?: number[]; error?: string }][]
  const failed = all.find(([{ error }]) => error)
  if (failed) throw new Error(failed[0].error)
  return all.flatMap(([{ held }]) => held as number[])
}

const children = await start()

const perDay = (maxCents: number): Policy => ({ dailyWithdrawalCapCents: maxCents })
const rolling = (maxCents: number): Policy => ({
  limits: [{ operations: ['withdrawals.*'], maxCents, window: '24h' }],
})
const PAYEES = { payees: ['account:acc_1'] }

for (const backend of ['Redis', 'Postgres'] as const) {
  const reserveAll = async (policy: Policy): Promise<number[]> => {
    const account = uniqueName()
    return spend(children, () => ({ backend, account, policy, amounts: Array<number>(EACH).fill(10) }))
  }

  t.test(`accepts exactly the 100 that fit of 500 reservations from 4 processes on ${backend}`, async t => {
    const held = await reserveAll(perDay(1000))
    t.equal(held.length, 500)
    t.equal(held.filter(amount => amount === 10).length, 100)
  })

  t.test(`accepts exactly the 100 that fit in 24 hours, from 4 processes on ${backend}`, async t => {
    const held = await reserveAll({ ...rolling(1000), ...PAYEES })
    t.equal(held.length, 500)
    t.equal(held.filter(amount => amount === 10).length, 100)
  })

  t.test(`keeps random amounts from 4 processes on ${backend} at or below the cap together`, async t => {
    const account = uniqueName()
    const random = (): number[] => Array.from({ length: EACH }, () => randomInt(1, 200))
    const held = await spend(children, () => ({ backend, account, policy: perDay(5000), amounts: random() }))
    const sum = held.reduce((a, b) => a + b, 0)
    t.ok(sum <= 5000 && sum > 4800, `${sum} of 5000 cents were held`)
  })
}
