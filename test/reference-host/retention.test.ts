// What a host deletes by age, and that nothing it decides by is among it.
import { rows } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { cardUser, networkEvent, networkRequest, type CardUser } from './harness/card-payments.ts'
import { bootstrapUser, type HttpResponse } from '../harness/host.ts'
import { kycBody, kycPartnerUser, WEBHOOK_SECRET } from './harness/kyc.ts'
import { startOpenHost } from './harness/open-host.ts'

const DAY_MS = 86_400_000
const YEARS = 800 * DAY_MS
const clock = manualClock(Date.now())
const { host, db, wrongSums, close } = await startOpenHost(clock, {
  PROVIDER_WEBHOOK_SECRETS: `sandbox=${WEBHOOK_SECRET}`,
})
t.teardown(close)

const count = async (table: string, condition: string): Promise<number> =>
  toInteger((await rows(db, `select count(*) as n from ${table} where ${condition}`))[0]?.['n'])
const event = (type: string, data: object): Promise<HttpResponse> =>
  networkEvent(host.send, { type, data }, { now: clock.now() })
async function funded(): Promise<CardUser> {
  const user = cardUser(
    host.send,
    (await bootstrapUser(host.send, { sessionTtlSeconds: DAY_MS / 1000 }, clock.now())).token,
  )
  await user.fund(1000)
  return user
}
const decisionOf = ({ body }: HttpResponse): { authorizationId: string; approved: boolean } =>
  body.data['decision'] as { authorizationId: string; approved: boolean }

t.test('deletes declined authorizations after 400 days with all their rows, and no others', async t => {
  const user = await funded()
  const card = await user.card()
  const declined = networkRequest(card, { amountCents: 5000 })
  const approved = networkRequest(card, { amountCents: 100 })
  const excess = networkRequest(card, { amountCents: 5000 })
  const ids: string[] = []
  for (const data of [declined, approved, excess])
    ids.push(decisionOf(await event('authorization.request', data)).authorizationId)
  const raise = { id: declined.id, incrementId: 'raise-1', amountCents: 10, currency: 'USD' }
  await event('authorization.increment', raise)
  await event('authorization.cleared', { id: excess.id, amountCents: 70 })
  const left = (id: string | undefined): Promise<number[]> =>
    Promise.all([
      count('gw_authorizations', `id = '${id}'`),
      count('gw_authorization_increments', `authorization_id = '${id}'`),
      count('gw_transactions', `source_id = '${id}'`),
      count('gw_provider_objects', `id = '${id}'`),
    ])
  const objects = await count('gw_provider_objects', 'true')
  clock.advance(400 * DAY_MS)
  await host.chore('collect garbage')
  t.same(await left(ids[0]), [1, 1, 1, 1], 'nothing is deleted a millisecond before')
  clock.advance(1)
  await host.chore('collect garbage')
  t.same(await left(ids[0]), [0, 0, 0, 0])
  t.equal(await count('gw_provider_objects', 'true'), objects - 2, 'the increment is unknown too')
  t.same(await left(ids[1]), [1, 0, 1, 1], 'money was held')
  t.same(await left(ids[2]), [1, 0, 1, 1], 'the operator has to look at it')
  t.same(await wrongSums(), [])
  t.same(host.failures.splice(0), [])
})

t.test('deletes events after 400 days, read or not, and keeps those of open reports', async t => {
  const user = await funded()
  const data = networkRequest(await user.card(), { amountCents: 600 })
  const { authorizationId } = decisionOf(await event('authorization.request', data))
  await event('authorization.cleared', { id: data.id, amountCents: 650 })
  const causes = async (): Promise<unknown[]> =>
    (
      await rows(db, 'select cause from gw_events where subject_id = $1 order by number', [authorizationId])
    ).map(row => row['cause'])
  t.same(await causes(), ['requested', 'cleared', 'excess'])
  clock.advance(400 * DAY_MS)
  await host.chore('collect garbage')
  t.same(await causes(), ['requested', 'cleared', 'excess'], 'nothing is deleted a millisecond before')
  clock.advance(1)
  await host.chore('collect garbage')
  t.same(await causes(), ['excess'])
  await event('authorization.cleared', { id: data.id, amountCents: 7 })
  t.same(
    (
      await rows(db, 'select number from gw_events where subject_id = $1 order by number', [authorizationId])
    ).map(row => toInteger(row['number'])),
    [3, 4],
    'later events are numbered on',
  )
  t.same(host.failures.splice(0), [])
})

t.test('after years, a report still ends a lock by the provider and none by an operator', async t => {
  const applicant = async (): Promise<string> => {
    const one = await kycPartnerUser(host)
    const { id } = one.application(await one.submit(kycBody('Pending')))
    return id as string
  }
  const report = (id: string, status: string, version: number): Promise<HttpResponse> => {
    const more = { version, reason: null, completionLink: null, externalVerificationLink: null }
    return event('kyc.report', { id, status, ...more })
  }
  const statusOf = async (id: string): Promise<unknown> =>
    (
      await rows(
        db,
        'select kyc_status from gw_users where account_id = (select account_id from gw_kyc_applications where id = $1)',
        [id],
      )
    )[0]?.['kyc_status']
  const [byProvider, byOperator] = [await applicant(), await applicant()]
  for (const id of [byProvider, byOperator]) await report(id, 'locked', 1)
  await rows(db, "update gw_events set cause = 'operator' where subject_id = $1 and to_status = 'locked'", [
    byOperator,
  ])
  clock.advance(YEARS)
  await host.chore('collect garbage')
  for (const id of [byProvider, byOperator]) await report(id, 'approved', 2)
  t.equal(await statusOf(byProvider), 'approved')
  t.equal(await statusOf(byOperator), 'locked')
})
