import t from 'tap'
import { openAtOnce } from '../../harness/at-once.ts'
import * as internals from '../../../harness/internals.ts'

const { db, second, clock, services, untilBlocked, addAccount, run, runTwo } = await openAtOnce(t)
const create = (of: typeof services) =>
  internals.createDeposit('user', of, internals.PORTS.deposits.sandbox({ db: of.db, clock }))
const body = { currency: 'usdc', network: 'base' }

t.test('two deposits opened at once do not exceed the most that may wait', async t => {
  const accountId = await addAccount()
  for (let n = 0; n < 19; n += 1) await run(create(services), accountId, { body })
  const [first, later] = await runTwo(create, accountId, { body })
  t.match(first, { data: {} })
  t.match(later, { code: 'policy_blocked', details: { rule: 'max_deposits' } })
})

t.test('two reports at once move a deposit once', async t => {
  const accountId = await addAccount()
  const { id } = (await run(create(services), accountId, { body })).data!['deposit']
  const data = { id, status: 'processing', payments: [] } as const
  const report = (tx: Parameters<typeof services.deposits.report>[0]): Promise<string> =>
    services.deposits.report(tx, 'sandbox', data, clock.now())
  let later: Promise<string> | undefined
  const first = await db.transaction(async tx => {
    const outcome = await report(tx)
    later = second.transaction(report)
    await untilBlocked(later)
    return outcome
  })
  t.same([first, await later], ['applied', 'ignored'])
})
