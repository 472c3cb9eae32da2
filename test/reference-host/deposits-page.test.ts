import t from 'tap'
import { openTestHost } from '../harness/host.ts'
import { runShell, shellLines } from './harness/pages/pages.ts'

t.test('every line of docs/deposits-and-withdrawals.md works as printed', async t => {
  const host = await openTestHost(t)
  const { code, output } = await runShell(shellLines('docs/deposits-and-withdrawals.md'), { HOST: host.url })
  t.equal(code, 0, output.slice(-800))
  t.match(output, /The withdrawal is (?:ready|completed)\./)
})
