import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { cardUser, keyBelow, networkEvent, networkRequest } from '../../harness/card-payments.ts'
import { bearer, bootstrapUser, openTestHost } from '../../../harness/host.ts'
import { WEBHOOK_SECRET } from '../../harness/kyc.ts'

t.test('a card keeps the caps of its key when its account ends 201 keys at once', async t => {
  const clock = manualClock(Date.now())
  const env = { RATE_LIMITS: 'off', PROVIDER_WEBHOOK_SECRETS: `sandbox=${WEBHOOK_SECRET}` }
  const host = await openTestHost(t, env, clock)
  await host.chore('maintain keys')
  const owner = await bootstrapUser(host.send, {}, clock.now())
  await cardUser(host.send, owner.token).fund(10_000)
  const { keyId, token } = await keyBelow(host.send, owner.token, { dailySpendCapCents: 1000 })
  const cardId = await cardUser(host.send, token).card()
  const headers = bearer(owner.token)
  const end = async (id: string): Promise<void> => {
    const { status } = await host.send(`/user/v1/keys/${id}?cards=keep`, { method: 'DELETE', headers })
    t.equal(status, 200)
  }
  await end(keyId)
  for (let count = 0; count < 201; count += 1) {
    clock.advance(1)
    const made = await host.send('/user/v1/keys', { body: {}, headers })
    await end((made.body as unknown as { userKeyId: string }).userKeyId)
  }
  const keys = await host.send('/user/v1/keys', { headers })
  t.notMatch(JSON.stringify(keys.body), new RegExp(keyId), 'the key is deleted')
  const pay = async (amountCents: number): Promise<unknown> => {
    const event = { type: 'authorization.request', data: networkRequest(cardId, { amountCents }) }
    return (await networkEvent(host.send, event, { now: clock.now() })).body.data['decision']
  }
  t.match(await pay(1001), { approved: false, declineReason: 'policy_blocked' })
  t.match(await pay(1000), { approved: true })
  t.match(await pay(1), { approved: false, declineReason: 'policy_blocked' })
  t.same(host.failures, [])
})
