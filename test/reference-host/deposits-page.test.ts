import t from 'tap'
import { startTestHost } from '../harness/host.ts'
import { runShell, shellLines } from './harness/pages/pages.ts'

t.test('every line of docs/deposits-and-withdrawals.md works as printed', async t => {
  const host = await startTestHost()
  t.teardown(() => host.close())
  const { code, output } = await runShell(shellLines('docs/deposits-and-withdrawals.md'), { HOST: host.url })
  t.equal(code, 0, output.slice(-800))
  t.match(output, /The withdrawal is (?:ready|completed)\./)
})
