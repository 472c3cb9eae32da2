import t from 'tap'
import { openTestHost } from '../harness/host.ts'
import { WEBHOOK_SECRET } from './harness/kyc.ts'
import { runShell, shellLines } from './harness/pages/pages.ts'

/** What the lines of each page print, from the first to the last. */
const PAGES = {
  'docs/card-authorizations.md':
    /"clearedCents":1200[^]*"refundedCents":200[^]*"declineReason":"card_limit_exceeded"/,
  'docs/deposits-and-withdrawals.md': /The withdrawal is (?:ready|completed)\./,
  'docs/identity-check.md': /"status":"pending"[^]*"applied":true[^]*"status":"approved"/,
}

for (const [page, printed] of Object.entries(PAGES))
  t.test(`every line of ${page} works as printed`, async t => {
    const host = await openTestHost(t, { PROVIDER_WEBHOOK_SECRETS: `sandbox=${WEBHOOK_SECRET}` })
    const { code, output } = await runShell(shellLines(page), { HOST: host.url, WEBHOOK_SECRET })
    t.equal(code, 0, output.slice(-800))
    t.match(output, printed)
  })
