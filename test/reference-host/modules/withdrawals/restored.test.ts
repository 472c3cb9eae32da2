// What a restored database has lost of the withdrawals that a provider has received.
import { withdrawalsRestored } from '#packages/reference-host/dist/modules/withdrawals/restored.js'
import t from 'tap'
import { openMoney } from '../../harness/money-operations.ts'

const { db, clock, services } = await openMoney(t)

t.test('names a withdrawal that the database does not know, unless it failed', async t => {
  const change = { payoutCents: 950, reason: null, txHash: null, paidCents: null, relay: null }
  const changes = [
    { ...change, id: 'wd_sent', status: 'completed' },
    { ...change, id: 'wd_open', status: 'processing' },
    { ...change, id: 'wd_failed', status: 'failed' },
  ]
  const changedSince = async () => ({ changes, next: null })
  const providers = { withdrawals: { name: 'bank', changedSince } } as never
  const { withdrawals } = services
  const { done, differences } = await withdrawalsRestored({ db, clock, providers, withdrawals }, {
    since: clock.now(),
  } as never)
  t.match(done, [/3 of provider bank compared, 0 brought up to date/])
  t.match(differences, [
    /^withdrawal wd_sent: provider bank pays out 9\.50 USD \(completed\), and this database does not know it/,
    /^withdrawal wd_open: provider bank pays out 9\.50 USD \(processing\)/,
  ])
  t.equal(differences.length, 2)
})
