import t from 'tap'
import { manualClock } from '@gatewright/kernel/testing'
import { partnerOwner, revealed, sessionOwner, userOwner } from '../../harness/cards.ts'
import { openTestHost, sessionOf } from '../../../harness/host.ts'

const clock = manualClock(Date.now())
const host = await openTestHost(t, { RATE_LIMITS: 'off' }, clock)
const luhn = (pan: string): boolean =>
  [...pan].reverse().reduce((sum, digit, index) => {
    const doubled = Number(digit) * (1 + (index % 2))
    return sum + (doubled > 9 ? doubled - 9 : doubled)
  }, 0) %
    10 ===
  0
const newUser = () => userOwner(host, {}, clock.now())

for (const surface of ['user', 'partner'] as const) {
  void t.test(
    `a reveal opens to a number that ends in last4, also of a locked card (${surface})`,
    async t => {
      const owner = surface === 'user' ? await newUser() : await partnerOwner(host)
      const card = await owner.make()
      const id = owner.idOf(card)
      const { pan, cvc, secretKey, response } = await revealed(owner, id)
      t.match(pan, /^400000\d{10}$/)
      t.ok(luhn(pan))
      t.equal(pan.slice(-4), card['last4'])
      t.match([cvc, secretKey], [/^\d{3}$/, /^[0-9a-f]{32}$/])
      t.notMatch(JSON.stringify(response.body), new RegExp(`${pan}|"${cvc}"`))
      if (surface === 'partner')
        t.match(response.body.data, {
          last4: card['last4'],
          brand: 'visa',
          keyId: 'sandbox',
          expirationYear: Number,
        })
      await owner.call(`/cards/${id}`, { method: 'PATCH', body: { status: 'locked' } })
      t.match(await revealed(owner, id), { pan, cvc }, 'the same again')
      await owner.call(`/cards/${id}`, { method: 'PATCH', body: { status: 'canceled' } })
      t.match((await revealed(owner, id)).response, {
        status: surface === 'user' ? 400 : 409,
        body: { field: 'status' },
      })
    },
  )
}

t.test('seeded cards can be revealed, and end in last4', async t => {
  const owner = await partnerOwner(host)
  const cards = (await owner.call('/cards')).body.data['cards'] as Record<string, string>[]
  const open = cards.find(({ status }) => status !== 'canceled') as Record<string, string>
  const { pan } = await revealed(owner, owner.idOf(open))
  t.equal(pan.slice(-4), open['last4'])
})

t.test('a reveal is an event that names key and session, and notifies the account', async t => {
  const owner = await newUser()
  const id = owner.idOf(await owner.make())
  await revealed(owner, id)
  const notified = await owner.call('/notifications?limit=5')
  t.match(notified.body.data['notifications'], [
    { kind: 'card.revealed', subject: { kind: 'card', id }, keyId: owner.key.split('_')[3] },
    { kind: 'card.active', keyId: null },
  ])
})

t.test('policies can forbid secrets, and a cap forbids the cards of others', async t => {
  const owner = await newUser()
  const id = owner.idOf(await owner.make())
  const under = async (policy: object) => {
    return sessionOwner(host, await sessionOf(host.send, owner.key, { policy }))
  }
  const silent = await under({ allowCardSecrets: false })
  t.match(await silent.call('/cards/secrets/session', { body: {} }), {
    status: 403,
    body: { rule: 'allowCardSecrets' },
  })
  const capped = await under({ limits: [{ operations: ['cards.*'], window: 'day', maxCents: 500 }] })
  t.match((await revealed(capped, id)).response, {
    status: 403,
    body: { error: 'policy_blocked', rule: 'card_above_caller' },
  })
  const own = capped.idOf(await capped.make())
  t.equal((await revealed(capped, own)).response.status, 200)
  t.equal((await revealed(await under({ denyOperations: ['bills.pay'] }), id)).response.status, 200, 'no cap')
})
