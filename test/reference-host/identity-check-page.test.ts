import { readFileSync } from 'node:fs'
import t from 'tap'
import { openTestHost } from '../harness/host.ts'
import * as internals from '../harness/internals.ts'
import { WEBHOOK_SECRET } from './harness/kyc.ts'
import { runShell, shellLines } from './harness/pages/pages.ts'

t.test('every line of docs/identity-check.md works as printed', async t => {
  const host = await openTestHost(t, { PROVIDER_WEBHOOK_SECRETS: `sandbox=${WEBHOOK_SECRET}` })
  const lines = shellLines('docs/identity-check.md')
  const { code, output } = await runShell(lines, { HOST: host.url, WEBHOOK_SECRET })
  t.equal(code, 0, output.slice(-800))
  t.match(output, /"status":"pending"[^]*"applied":true[^]*"status":"approved"/)
})

t.test('docs/identity-check.md lists the changes of a status', t => {
  const page = readFileSync('docs/identity-check.md', 'utf8')
  const { KYC_MOVES, KYC_STATUSES } = internals
  const named = (list: readonly string[]): string => list.map(each => `\`${each}\``).join(', ')
  for (const [cause, moves] of Object.entries(KYC_MOVES)) {
    for (const { from, to } of moves) {
      const all = from.length === KYC_STATUSES.length
      const statuses = all
        ? ' From: any. To: any but `not_submitted`.'
        : ` From: ${named(from)}. To: ${named(to)}.`
      const entry = page
        .split('\n')
        .find(line => line.startsWith(`- \`${cause}\`, `) && line.endsWith(statuses))
      t.ok(entry, `${cause}: ${from.join()} -> ${to.join()}`)
    }
  }
  t.end()
})
