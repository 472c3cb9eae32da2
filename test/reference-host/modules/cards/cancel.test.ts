import t from 'tap'
import * as internals from '../../../harness/internals.ts'
import { openCards } from './open-cards.ts'

const { db, clock, owner, stored, find, events } = await openCards(t)

t.test('cancels the open cards of keys', async t => {
  const ann = await owner()
  const lineage = { accountId: ann.accountId, lineageId: 'one' }
  const ids = [await stored(ann, { keyLineage: lineage }), await stored(ann, { keyLineage: lineage })]
  const canceled = await stored(ann, { keyLineage: lineage, status: 'canceled' })
  const others = [await stored(ann), await stored(ann, { keyLineage: { ...lineage, lineageId: 'two' } })]
  others.push(await stored(ann, { keyLineage: { ...lineage, accountId: 'acc_other' } }))
  const cancel = () => internals.cancelCardsOf(db, [lineage], { reason: 'operator', now: clock.now() })
  t.equal(await cancel(), 2)
  for (const id of ids) {
    t.match(await find(id), { status: 'canceled', cancelReason: 'operator', canceledAt: clock.now() })
    t.same((await events(ann, id)).at(-1), ['active', 'canceled', 'operator'])
  }
  for (const id of others) t.match(await find(id), { status: 'active' })
  t.match(await find(canceled), { canceledAt: null })
  t.equal(await cancel(), 0)
})

t.test('finds the lineages of a key and of all keys below it', async t => {
  const key = (id: string, lineageId: string, ancestry: readonly string[] = []) => ({
    id,
    accountId: 'acc',
    lineageId,
    ancestry,
  })
  const keys = [key('a', 'a'), key('a2', 'a'), key('b', 'b', ['a']), key('c', 'c', ['a', 'b']), key('d', 'd')]
  const of = (id: string): string[] => internals.lineagesFrom(keys, id).map(({ lineageId }) => lineageId)
  t.same(of('a'), ['a', 'b', 'c'])
  t.same(of('b'), ['b', 'c'])
  t.same(of('c'), ['c'])
  t.same(of('none'), [])
  t.same(internals.lineagesFrom(keys, 'd'), [{ accountId: 'acc', lineageId: 'd' }])
})
