// Reports of providers about objects that the host does not know, and with members that it does not understand.
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { networkEvent } from '../harness/card-payments.ts'
import { openTestHost, type HttpResponse } from '../../harness/host.ts'
import { WEBHOOK_SECRET } from '../harness/kyc.ts'

const clock = manualClock(Date.now())
const host = await openTestHost(
  t,
  { RATE_LIMITS: 'off', PROVIDER_WEBHOOK_SECRETS: `sandbox=${WEBHOOK_SECRET}` },
  clock,
)
const send = (type: string, data: object, id?: string): Promise<HttpResponse> =>
  networkEvent(host.send, { type, data }, { now: clock.now(), ...(id === undefined ? {} : { id }) })

const REPORTS = {
  'deposit.report': { status: 'completed', payments: [{ id: 'p1', creditedCents: 500 }] },
  'withdrawal.report': { status: 'completed', reason: null, txHash: null, paidCents: 500, relay: null },
  'kyc.report': {
    version: 1,
    status: 'approved',
    reason: null,
    completionLink: null,
    externalVerificationLink: null,
  },
} as const

for (const [type, report] of Object.entries(REPORTS)) {
  t.test(
    `asks for ${type} about an unknown object again for a day, and then keeps it for the operator`,
    async t => {
      const data = { id: `unknown-${type}`, ...report }
      for (const id of ['first', 'first', undefined])
        t.equal((await send(type, data, id && `${type} ${id}`.replace(' ', '-'))).status, 404)
      clock.advance(86_400_000)
      t.match(await send(type, data), { status: 200, body: { data: { applied: false, outcome: 'kept' } } })
      t.match(await send(type, data), { body: { data: { outcome: 'kept' } } }, 'in another message')
      host.failures.splice(0)
    },
  )

  t.test(`refuses a member of ${type} that it does not understand`, async t => {
    for (const name of ['amountCents', 'currency', 'quantity', 'accountId'])
      t.match(await send(type, { id: 'a', ...report, [name]: 1 }), {
        status: 400,
        body: { message: new RegExp(`must not have the member ${name}`) },
      })
  })
}

t.test('refuses members that it does not understand inside of a report, and beside its data', async t => {
  const report = REPORTS['deposit.report']
  const payments = [{ id: 'p1', creditedCents: 500, currency: 'EUR' }]
  t.equal((await send('deposit.report', { id: 'a', ...report, payments })).status, 400)
  const relay = { reference: 'r', payinAddress: null, payinExtraId: null, feeCents: 1 }
  t.equal((await send('withdrawal.report', { id: 'a', ...REPORTS['withdrawal.report'], relay })).status, 400)
  const beside = { type: 'deposit.report', data: { id: 'a', ...report }, amountCents: 500 }
  t.equal((await networkEvent(host.send, beside, { now: clock.now() })).status, 400)
})
