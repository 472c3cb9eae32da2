import { rows } from '@gatewright/kernel/sql'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { gatewright as runGatewright, type Ran } from '../../harness/gatewright.ts'
import { startTestHost } from '../../harness/host.ts'
import { signedFields, WEBHOOK_SECRET } from '../harness/kyc.ts'
import { fundedUser, memberOf, withdrawalBody } from '../harness/transfers.ts'
import { temporaryFolder } from '../../harness/files.ts'

const DATA_DIR = temporaryFolder(t)
const gatewright = (...args: string[]): Promise<Ran> => runGatewright(args, { PORT: '0', DATA_DIR })
const env = { DATA_DIR, PROVIDER_WEBHOOK_SECRETS: `sandbox=${WEBHOOK_SECRET}` }

t.test('an operator lists withdrawals, ends an open one, and settles the attention of another', async t => {
  const host = await startTestHost(env, manualClock(Date.now()))
  const user = await fundedUser(host, 2_000_000, { policy: { dailyWithdrawalCapCents: 1_001_003 } })
  const make = async (cents: number): Promise<string> =>
    memberOf(await user.write('/withdrawals', withdrawalBody(cents)), 'withdrawal').id
  const [unknown, late] = [await make(1_000_003), await make(1000)]
  await host.chore('run jobs')
  const none = { reason: null, txHash: null, paidCents: null, relay: null }
  for (const status of ['failed', 'completed']) {
    const body = JSON.stringify({ type: 'withdrawal.report', data: { ...none, id: late, status } })
    await host.send('/providers/sandbox/events', { body, headers: signedFields(body, { now: Date.now() }) })
  }
  await host.close()

  const listed = await gatewright('withdrawals', 'list', '--attention')
  t.match(listed, {
    code: 0,
    output: new RegExp(`pending +outcome_unknown +1000003 +0 +acc_\\w+ +${unknown}`),
  })
  t.match(listed.output, new RegExp(`failed +paid_after_failure +1000 +950 +acc_\\w+ +${late}`))
  t.notMatch(listed.output, /0x5290/)
  t.match(await gatewright('withdrawals', 'resolve', unknown, 'failed', 'ticket-1'), {
    code: 2,
    output: /needs --yes/,
  })
  for (const [code, args, output] of [
    [2, [unknown, 'ready', 'ticket-1'], /STATUS must be completed or failed/],
    [2, [unknown, 'failed', 'two words'], /REFERENCE must be/],
    [1, ['wd_none', 'failed', 'ticket-1'], /wd_none is not open/],
    [1, [late, 'completed', 'ticket-1'], /has no attention as completed/],
  ] as const)
    t.match(await gatewright('withdrawals', 'resolve', ...args, '--yes'), { code, output })
  const { db, close } = openDatabaseOf({ DATA_DIR })
  const lease = (until: number): Promise<unknown> =>
    rows(db, 'update gw_jobs set leased_until = $1 where subject_id = $2', [until, unknown])
  await lease(Date.now() + 60_000)
  t.match(await gatewright('withdrawals', 'resolve', unknown, 'failed', 'ticket-1', '--yes'), {
    code: 1,
    output: /is being sent at this moment/,
  })
  await lease(0)
  await close()
  for (const id of [unknown, late])
    t.match(await gatewright('withdrawals', 'resolve', id, 'failed', 'ticket-1', '--yes'), {
      code: 0,
      output: `${id} is failed.`,
    })
  t.match(await gatewright('withdrawals', 'list'), { code: 0, output: /No open withdrawals/ })
  t.match(await gatewright('ledger', 'check'), { code: 0 })
})
