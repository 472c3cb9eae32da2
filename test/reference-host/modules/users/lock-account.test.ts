import { rows } from '@gatewright/kernel/sql'
import { events } from '@gatewright/host'
import t from 'tap'
import { openAtOnce } from '../../harness/at-once.ts'
import { openMoney } from '../../harness/money-operations.ts'
import * as internals from '../../../harness/internals.ts'

const { lockAccount, lockAccountFirst } = internals
const setUp = await openAtOnce(t)

t.test('a count behind the lock of an account sees what the transaction before it committed', async t => {
  const { db, second, untilBlocked } = setUp
  const accountId = await setUp.addAccount(0)
  let counted: Promise<unknown> | undefined
  await db.transaction(async tx => {
    await lockAccount(tx, accountId)
    await events.record(tx, { accountId, subject: { kind: 'bill', id: 'bill_1' }, cause: 'added' }, 0)
    counted = second.transaction(async other => {
      await lockAccountFirst(other, accountId)
      return events.unreadCount(other, accountId, 10)
    })
    await untilBlocked(counted)
  })
  t.equal(await counted, 1)
})

for (const dialect of ['postgres', 'sqlite'] as const)
  t.test(`${dialect}: the lock of an account without a user fails`, async t => {
    const { db } = await openMoney(t, {}, dialect)
    const attempt = db.transaction(async tx => {
      await lockAccountFirst(tx, 'nobody')
      await rows(tx, 'select 1')
    })
    await t.rejects(attempt, { code: dialect === 'postgres' ? 'ERR_STORE_UNAVAILABLE' : 'ERR_STORE_REPLY' })
  })
