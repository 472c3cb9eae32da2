import t from 'tap'
import * as internals from '../../../harness/internals.ts'
import { openCards } from './open-cards.ts'

const STATUSES = ['active', 'canceled', 'locked', 'not_activated'] as const
const { db, clock, owner, find, history } = await openCards(t)

t.test('a new partner user of a sandbox has 25 cards of all kinds', async t => {
  const secret = Buffer.alloc(32, 7)
  const seeded: Awaited<ReturnType<typeof find>>[] = []
  for (let count = 0; count < 12; count += 1) {
    const { accountId } = await owner()
    await db.transaction(tx => internals.seedSandboxCards(secret)(tx, accountId, clock.now()))
    const found = await internals.cards.page(db, accountId, { after: 0, limit: 100 })
    t.equal(found.length, 25)
    seeded.push(...found)
    t.same(await history(accountId, 'card', found[0]!.id), [], 'nobody asked for it')
  }
  const counts = (of: (card: NonNullable<(typeof seeded)[0]>) => unknown): Map<unknown, number> => {
    const all = new Map<unknown, number>()
    for (const card of seeded) all.set(of(card!), (all.get(of(card!)) ?? 0) + 1)
    return all
  }
  const statuses = counts(({ status }) => status)
  t.same(new Set(statuses.keys()), new Set(STATUSES))
  t.ok(statuses.get('active')! > 90, 'half of them are active')
  const limits = seeded.flatMap(card => card!.limit ?? [])
  t.equal(new Set(limits.map(({ frequency }) => frequency)).size, 6)
  t.ok(limits.length > 180 && limits.length < 270, 'a quarter has no limit')
  for (const { amountCents } of limits)
    t.ok(amountCents >= 1000 && amountCents <= 499_000 && amountCents % 1000 === 0, String(amountCents))
  const [first] = seeded
  t.match(first, { disposable: false, autoCancelAfterAuth: false, keyLineage: null, sessionPolicies: [] })
})
