import { randomUUID } from 'node:crypto'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { openTestHost } from '../../../harness/host.ts'
import { newMoneyUser } from '../../harness/money.ts'

t.test('an account makes at most 200 cards in 24 hours, canceled ones included, also at once', async t => {
  const clock = manualClock(Date.now())
  const host = await openTestHost(t, { RATE_LIMITS: 'off' }, clock)
  const owner = await newMoneyUser(host.send, clock.now())
  const make = () => owner.write('/cards', {}, randomUUID())
  for (let round = 0; round < 5; round += 1) {
    const made = await Promise.all(Array.from({ length: round < 4 ? 45 : 25 }, make))
    const ids = made.flatMap(({ status, body }) =>
      status === 200 ? [(body.data['card'] as { id: string }).id] : [],
    )
    t.equal(ids.length, round < 4 ? 45 : 20)
    for (const { status, body } of made)
      if (status !== 200)
        t.match({ status, body }, { status: 403, body: { rule: 'max_cards', message: /24 hours/ } })
    await Promise.all(ids.map(id => owner.write(`/cards/${id}/delete-now`, {})))
  }
  clock.advance(86_400_000 - 1)
  const later = await newMoneyUser(host.send, clock.now())
  t.equal((await later.write('/cards', {})).status, 200, 'of another account')
  t.same(host.failures, [])
})
