import { rows } from '@gatewright/kernel/sql'
import t from 'tap'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { gatewright as runGatewright, type Ran } from '../../harness/gatewright.ts'
import { bearer, bootstrapUser, startTestHost, type TestHost } from '../../harness/host.ts'
import { kycBody } from '../harness/kyc.ts'
import { temporaryFolder } from '../../harness/files.ts'

const DATA_DIR = temporaryFolder(t)
const gatewright = (...args: string[]): Promise<Ran> => runGatewright(args, { PORT: '0', DATA_DIR })

t.test('an operator lists applications and jobs, retries a job, and decides', async t => {
  let host: TestHost = await startTestHost({ DATA_DIR })
  const { token } = await bootstrapUser(host.send)
  const headers = bearer(token)
  const submitted = await host.send('/user/v1/kyc', { body: kycBody('Smith'), headers })
  const { id } = submitted.body.data['application'] as { id: string }
  await host.close()

  const listed = await gatewright('kyc', 'list')
  t.match(listed, { code: 0, output: new RegExp(`pending +acc_\\w+ +${id}$`, 'm') })
  t.notMatch(listed.output, /Smith|SECRET/)
  const [account = ''] = /acc_\w+/.exec(listed.output) ?? []
  t.match(await gatewright('jobs', 'list'), { code: 0, output: new RegExp(`kyc\\.submit +${id} +1 `) })
  t.match(await gatewright('jobs', 'retry', 'kyc.submit', id), { code: 0, output: /is due\./ })
  t.match(await gatewright('jobs', 'retry', 'kyc.submit', 'none'), {
    code: 1,
    output: /no job kyc\.submit none/,
  })

  t.match(await gatewright('kyc', 'decide', account, 'denied'), { code: 2, output: /needs --yes/ })
  for (const [code, args, output] of [
    [2, [account, 'not_submitted'], /STATUS must be one of pending, approved/],
    [1, ['acc_none', 'denied'], /no user or account acc_none/],
    [2, [account, 'denied', '--reason', ''], /--reason must be 1 to 200/],
  ] as const)
    t.match(await gatewright('kyc', 'decide', ...args, '--yes'), { code, output })
  const decided = await gatewright('kyc', 'decide', account, 'denied', '--reason', 'Not you.', '--yes')
  t.match(decided, { code: 0, output: `${account} is denied.` })

  host = await startTestHost({ DATA_DIR })
  t.teardown(() => host.close())
  await host.chore('run jobs')
  const { body } = await host.send('/user/v1/kyc/status', { headers })
  const application = { status: 'denied', reason: 'Not you.' }
  t.match(body.data, { application }, 'the provider does not overrule it')
})

t.test('an account without fields cannot be pending: nobody would ever decide about it', async t => {
  const { db, close } = openDatabaseOf({ DATA_DIR })
  await rows(
    db,
    `insert into gw_users (id, account_id, principal, kyc_status, created_at)
      values ('usr_none', 'acc_none_yet', 'usr_none', 'not_submitted', 1)`,
  )
  await close()
  const decide = (status: string): Promise<Ran> =>
    gatewright('kyc', 'decide', 'acc_none_yet', status, '--yes')
  const refused = { code: 1, output: /acc_none_yet has no application data that a provider could check/ }
  t.match(await decide('pending'), refused)
  t.match(await gatewright('users', 'show', 'acc_none_yet'), { output: /kycStatus +not_submitted/ })
  t.match(await decide('approved'), { code: 0 })
  t.match(await decide('pending'), refused)
  t.match(await gatewright('users', 'show', 'acc_none_yet'), { output: /kycStatus +approved/ })
})

t.test('says so when there is nothing to list', async t => {
  const empty = temporaryFolder(t)
  const env = { PORT: '0', DATA_DIR: empty }
  t.match(await runGatewright(['kyc', 'list'], env), { code: 0, output: /^No open applications\.$/m })
  t.match(await runGatewright(['jobs', 'list'], env), { code: 0, output: /^No jobs\.$/m })
})
