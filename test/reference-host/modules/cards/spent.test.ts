import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { openTestHost, sessionOf } from '../../../harness/host.ts'
import { moneyUser, newMoneyUser, type MoneyUser } from '../../harness/money.ts'

const DAY_MS = 86_400_000
const clock = manualClock(Date.UTC(2026, 0, 31, 12))
const host = await openTestHost(t, { RATE_LIMITS: 'off' }, clock)

interface Card {
  readonly id: string
  readonly spentCents: number | null
}
const newCard = async (user: MoneyUser, limit: object | null): Promise<string> =>
  ((await user.write('/cards', { limit })).body.data['card'] as Card).id
const pay = async (user: MoneyUser, cardId: string, amountCents: number): Promise<string> => {
  const paid = await user.write('/sandbox/authorizations', { cardId, amountCents })
  return (paid.body.data['authorization'] as { id: string }).id
}

t.test('a card shows what its payments use of its limit in the current window', async t => {
  const owner = await newMoneyUser(host.send, clock.now())
  await owner.fund(100_000)
  const daily = await newCard(owner, { amount: 5000, frequency: 'per24HourPeriod' })
  const forEver = await newCard(owner, { amount: 5000, frequency: 'allTime' })
  const each = await newCard(owner, { amount: 5000, frequency: 'perAuthorization' })
  const unlimited = await newCard(owner, null)
  const spent = async (user: MoneyUser): Promise<(number | null)[]> => {
    const { cards } = (await user.read('/cards')).body.data as { cards: Card[] }
    for (const { id, spentCents } of cards) {
      const read = (await user.read(`/cards/${id}`)).body.data['card'] as Card
      t.equal(read.spentCents, spentCents, 'the list says the same')
    }
    return [daily, forEver, each, unlimited].map(id => cards.find(card => card.id === id)?.spentCents ?? null)
  }
  t.same(await spent(owner), [0, 0, null, null])
  const cleared = await pay(owner, daily, 1250)
  const reversed = await pay(owner, daily, 300)
  for (const card of [forEver, each, unlimited]) await pay(owner, card, 700)
  await pay(owner, daily, 9999)
  t.same(await spent(owner), [1550, 700, null, null], 'what is held counts, and what was declined does not')
  await owner.write(`/sandbox/authorizations/${cleared}/clear`, { amountCents: 1000 })
  await owner.write(`/sandbox/authorizations/${reversed}/reverse`, {})
  t.same(await spent(owner), [1000, 700, null, null])

  clock.advance(DAY_MS - 1)
  // The first session ends with the day.
  const later = moneyUser(host.send, { token: await sessionOf(host.send, owner.key) })
  t.same(await spent(later), [1000, 700, null, null])
  clock.advance(1)
  t.same(await spent(later), [0, 700, null, null], 'a day after the payment it counts no more')
})
