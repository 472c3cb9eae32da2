// Two transactions at once: the second waits for the first, and then sees what it has committed.
import type { SqlQueries } from '@gatewright/kernel/sql'
import t from 'tap'
import { openAtOnce } from '../../harness/at-once.ts'
import * as internals from '../../../harness/internals.ts'
import { withdrawalBody } from '../../harness/transfers.ts'

const provider = internals.PORTS.withdrawals.sandbox({ db: {} as never, clock: { now: () => 0 } })
const { db, second, untilBlocked, clock, services, addAccount, run, runTwo } = await openAtOnce(t, {
  withdrawals: provider,
})
const create = (of: typeof services) => internals.createWithdrawal('user', of, provider)

async function made(): Promise<string> {
  const response = await run(create(services), await addAccount(1000), { body: withdrawalBody(1000) })
  return response.data!['withdrawal'].id
}

/** Delivers a report twice at once, and returns both outcomes. */
async function reportTwice(id: string, paidCents: number | null): Promise<string[]> {
  const data = { id, status: 'completed', reason: null, txHash: null, paidCents, relay: null } as const
  const report = (tx: SqlQueries): Promise<string> =>
    services.withdrawals.report(tx, provider.name, data, clock.now())
  let later: Promise<string> | undefined
  const first = await db.transaction(async tx => {
    const outcome = await report(tx)
    later = second.transaction(report)
    await untilBlocked(later)
    return outcome
  })
  return [first, (await later) as string]
}

t.test('two reports at once move the money once', async t => {
  t.same(await reportTwice(await made(), null), ['applied', 'ignored'])
})

t.test('two reports at once of more than was paid add the excess once', async t => {
  const id = await made()
  const amounts = [null, 1010, 1020]
  for (const paidCents of amounts) t.same(await reportTwice(id, paidCents), ['applied', 'ignored'])
  const stored = await internals.anyWithdrawal.find(db, id)
  t.match(stored, { attention: 'amount_differs', amountCents: 1000 })
  t.equal(stored!.excessCents, 1020 - (1000 - stored!.feeCents))
})

t.test('two requests at once do not exceed the most that may be under way', async t => {
  const accountId = await addAccount(10_000)
  const request = { body: withdrawalBody(100) }
  for (let n = 0; n < 19; n += 1) await run(create(services), accountId, request)
  const [first, later] = await runTwo(create, accountId, request)
  t.match(first, { data: {} })
  t.match(later, { code: 'policy_blocked', details: { rule: 'max_withdrawals' } })
})
