import { manualClock } from '@gatewright/kernel/testing'
import type { KycProvider, KycReport } from '@gatewright/reference-host'
import t from 'tap'
import { openTestHost, type HttpResponse } from '../../../harness/host.ts'
import { kycBody, kycPartnerUser, signedFields, WEBHOOK_SECRET, type Person } from '../../harness/kyc.ts'

const clock = manualClock(Date.now())
const OLD_SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const unlimited = {
  RATE_LIMITS: '{"bootstrapPerAddressPerMinute":1000,"failedCredentialsPerAddressPerMinute":1000}',
  PROVIDER_WEBHOOK_SECRETS: `checks=${OLD_SECRET},checks=${WEBHOOK_SECRET},other=${WEBHOOK_SECRET}`,
}
const pending = report('pending', null)
const submitted = new Map<string, { id: string; nationalId: string | null }[]>()
const checks: KycProvider = {
  name: 'checks',
  async submit(id, { lastName, nationalId }) {
    const name = lastName ?? ''
    submitted.set(name, [...(submitted.get(name) ?? []), { id, nationalId }])
    return pending
  },
}
const host = await openTestHost(t, unlimited, clock, { kyc: checks })

function report(status: KycReport['status'], version: number | null): KycReport {
  return { version, status, reason: null, completionLink: null, externalVerificationLink: null }
}
interface EventOptions {
  readonly name?: string
  readonly secret?: string
  readonly id?: string
  readonly at?: number
  readonly fields?: Record<string, string>
}
function send(
  body: unknown,
  { name = 'checks', fields, at = clock.now(), ...more }: EventOptions = {},
): Promise<HttpResponse> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const headers = { ...signedFields(text, { now: at, ...more }), ...fields }
  return host.send(`/providers/${name}/events`, { body: text, headers })
}
const event = (id: string, status: KycReport['status'], version: number | null = null): object => ({
  type: 'kyc.report',
  data: { id, ...report(status, version) },
})
const applied = (yes: boolean): object => ({ status: 200, body: { ok: true, data: { applied: yes } } })

async function applicant(lastName: string): Promise<Person & { readonly id: string }> {
  const one = await kycPartnerUser(host)
  const { id } = one.application(await one.submit(kycBody(lastName)))
  return { ...one, id: id as string }
}

t.test('applies a report once, and responds to its repeat without applying it', async t => {
  const one = await applicant('Once')
  t.match(await send(event(one.id, 'manual_review'), { id: 'msg_1' }), applied(true))
  t.equal(await one.status(), 'manual_review')
  await one.call('/sandbox/kyc', { status: 'pending' })
  t.match(await send(event(one.id, 'manual_review'), { id: 'msg_1' }), applied(false))
  t.equal(await one.status(), 'pending')
  t.match(await send(event(one.id, 'approved'), { id: 'msg_2' }), applied(true))
  t.match(await send(event(one.id, 'denied')), applied(false), 'an approved one cannot be denied by a report')
  t.equal(await one.status(), 'approved')
})

t.test('20 copies of a message at once are applied once', async t => {
  const one = await applicant('Copies')
  const body = event(one.id, 'needs_verification')
  const responses = await Promise.all(Array.from({ length: 20 }, () => send(body, { id: 'msg_20' })))
  t.equal(responses.filter(({ body: { data } }) => data['applied'] === true).length, 1)
  t.equal(responses.filter(({ body: { data } }) => data['applied'] === false).length, 19)
})

t.test('a proven message that cannot be read is 400, an unknown object 404 for each repeat', async t => {
  const one = await applicant('Unread')
  for (const [body, field] of [
    ['{', 'body'],
    [{ type: 'kyc.report' }, 'data'],
    [{ type: 'nothing.known', data: {} }, 'type'],
    [{ type: 'kyc.report', data: {} }, 'data.id'],
    [{ type: 'kyc.report', data: { id: one.id, ...report('approved', null), status: 'yes' } }, 'data.status'],
    [{ type: 'kyc.report', data: { id: one.id, ...report('approved', 1.7e18) } }, 'data.version'],
    [{ type: 'constructor.x', data: {} }, 'type'],
  ] as const)
    t.match(await send(body), { status: 400, body: { error: 'invalid_request' } }, field)
  for (let round = 0; round < 2; round += 1)
    t.match(await send(event('kyc_unknown', 'approved'), { id: 'msg_404' }), { status: 404 })
  t.match(await send(event(one.id, 'approved'), { name: 'other' }), { status: 404 }, 'not its provider')
  t.match(
    await send(event(one.id, 'approved'), { id: 'msg_404' }),
    applied(true),
    'the message was not remembered',
  )
})

t.test('drops nationalId once the provider has responded, and never returns it', async t => {
  const one = await applicant('Dropped')
  clock.advance(5000)
  await host.chore('run jobs')
  t.same(
    submitted.get('Dropped')?.map(({ nationalId }) => nationalId),
    ['SECRET-123-45-6789', null],
  )
  t.same(new Set(submitted.get('Dropped')?.map(({ id }) => id)), new Set([one.id]))
  const said = JSON.stringify([host.decisions, host.failures, (await one.call('/kyc/status')).body])
  t.notMatch(said, /SECRET-123/)
})

t.test('collects remembered messages after 30 days', async t => {
  const one = await applicant('Collected')
  await one.call('/sandbox/kyc', { status: 'pending' })
  t.match(await send(event(one.id, 'manual_review'), { id: 'msg_30' }), applied(true))
  clock.advance(30 * 86_400_000)
  await host.chore('collect garbage')
  t.match(await send(event(one.id, 'approved'), { id: 'msg_30' }), applied(false))
  clock.advance(1)
  await host.chore('collect garbage')
  t.match(await send(event(one.id, 'approved'), { id: 'msg_30' }), applied(true))
})

t.test('counts calls and the outcomes of events', async t => {
  const metrics = await (await fetch(`${host.url}/metrics`)).text()
  for (const outcome of ['applied', 'ignored', 'repeated', 'unknown'])
    t.match(metrics, new RegExp(`provider_events_total\\{type="kyc.report",outcome="${outcome}"\\} [1-9]`))
  t.match(metrics, /provider_calls_total\{port="kyc",outcome="answered"\} [1-9]/)
})
