// Two transactions at once: the second waits for the first, and then sees what it has committed.
import type { SqlQueries } from '@gatewright/kernel/sql'
import t from 'tap'
import { openAtOnce } from '../../../harness/at-once.ts'
import { internals } from '../../../harness/internals.ts'
import { withdrawalBody } from '../../../harness/transfers.ts'

const provider = internals.sandboxWithdrawals({ db: {} as never, clock: { now: () => 0 } })
const { db, second, untilBlocked, clock, services, addAccount, run, runTwo } = await openAtOnce(t, {
  withdrawals: provider,
})
const create = (of: typeof services) => internals.createWithdrawal('user', of, provider)

t.test('two reports at once move the money once', async t => {
  const accountId = await addAccount(1000)
  const made = await run(create(services), accountId, { body: withdrawalBody(1000) })
  const id = made.data!['withdrawal'].id as string
  const nothing = { reason: null, txHash: null, paidCents: null, relay: null }
  const data = { id, ...nothing, status: 'completed' } as const
  const report = (tx: SqlQueries): Promise<string> =>
    services.withdrawals.report(tx, provider.name, data, clock.now())
  let later: Promise<string> | undefined
  const first = await db.transaction(async tx => {
    const outcome = await report(tx)
    later = second.transaction(report)
    await untilBlocked(later)
    return outcome
  })
  t.same([first, await later], ['applied', 'ignored'])
})

t.test('two requests at once do not exceed the most that may be under way', async t => {
  const accountId = await addAccount(10_000)
  const request = { body: withdrawalBody(100) }
  for (let n = 0; n < 19; n += 1) await run(create(services), accountId, request)
  const [first, later] = await runTwo(create, accountId, request)
  t.match(first, { data: {} })
  t.match(later, { code: 'policy_blocked', details: { rule: 'max_withdrawals' } })
})
