import t from 'tap'
import { openTestHost } from '../harness/host.ts'
import { runShell, shellLines } from './harness/pages/pages.ts'

t.test('every line of docs/card-authorizations.md works as printed', async t => {
  const host = await openTestHost(t)
  const { code, output } = await runShell(shellLines('docs/card-authorizations.md'), { HOST: host.url })
  t.equal(code, 0, output.slice(-800))
  t.match(output, /"clearedCents":1200[^]*"refundedCents":200[^]*"declineReason":"card_limit_exceeded"/)
})
