import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { cardUser, keyBelow, networkEvent, networkRequest } from '../../harness/card-payments.ts'
import { bearer, bootstrapUser, openTestHost, sessionOf } from '../../../harness/host.ts'
import { WEBHOOK_SECRET } from '../../harness/kyc.ts'

const DAY_MS = 86_400_000

t.test('a card keeps the caps of its key after this key is deleted', async t => {
  const clock = manualClock(Date.now())
  const env = { RATE_LIMITS: 'off', PROVIDER_WEBHOOK_SECRETS: `sandbox=${WEBHOOK_SECRET}` }
  const host = await openTestHost(t, env, clock)
  const owner = await bootstrapUser(host.send, {}, clock.now())
  await cardUser(host.send, owner.token).fund(10_000)
  const { keyId, token } = await keyBelow(host.send, owner.token, { dailySpendCapCents: 1000 })
  const cardId = await cardUser(host.send, token).card()
  const pay = async (amountCents: number): Promise<unknown> => {
    const event = { type: 'authorization.request', data: networkRequest(cardId, { amountCents }) }
    return (await networkEvent(host.send, event, { now: clock.now() })).body.data['decision']
  }
  t.match(await pay(900), { approved: true })
  const revoked = await host.send(`/user/v1/keys/${keyId}?cards=keep`, {
    method: 'DELETE',
    headers: bearer(owner.token),
  })
  t.equal(revoked.status, 200)
  clock.advance(8 * DAY_MS)
  await host.chore('maintain keys')
  const later = bearer(await sessionOf(host.send, owner.key))
  const keys = await host.send('/user/v1/keys', { headers: later })
  t.equal(keys.status, 200)
  t.notMatch(JSON.stringify(keys.body), new RegExp(keyId), 'the key is deleted')
  t.match(await pay(1001), { approved: false, declineReason: 'policy_blocked' })
  t.match(await pay(1000), { approved: true })
  t.match(await pay(1), { approved: false, declineReason: 'policy_blocked' })
})
