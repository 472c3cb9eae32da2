import assert from 'node:assert/strict'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { response, stillTimer, write } from '../support.ts'
import { createWaitingPlacePool } from '#packages/idempotency-store/dist/execution/waiting-places.js'

/**
 * Sends the duplicates of several accounts in this order, while the first request of each account runs, and returns how many of
 * each account's duplicates were replayed. The others were denied as in progress.
 */
async function replaysOf(order: readonly number[], maxWaiters: number): Promise<Map<number, number>> {
  const idempotency = createIdempotency({ storage: memoryIdempotency(), timer: stillTimer, maxWaiters })
  const claims = []
  for (const account of new Set(order)) {
    const begun = await idempotency.begin(write({ account: `account-${account}` }))
    if (!begun.ok || begun.value.state !== 'started') throw new Error('not started')
    claims.push(begun.value.claim)
  }
  const duplicates = order.map(account => idempotency.begin(write({ account: `account-${account}` })))
  await new Promise(resolve => setImmediate(resolve))
  for (const claim of claims) await idempotency.complete(claim, response(201))
  const replays = new Map(order.map(account => [account, 0]))
  for (const [index, duplicate] of (await Promise.all(duplicates)).entries()) {
    const account = order[index] as number
    if (duplicate.ok) replays.set(account, (replays.get(account) ?? 0) + 1)
    else assert.equal(duplicate.code, 'request_in_progress')
  }
  return replays
}

t.test('shares the places fairly, in whatever order the duplicates of accounts come', async () => {
  const orders = fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(orders, fc.integer({ min: 1, max: 12 }), async (order, maxWaiters) => {
      const replays = await replaysOf(order, maxWaiters)
      const total = [...replays.values()].reduce((sum, count) => sum + count, 0)
      assert.equal(total, Math.min(order.length, maxWaiters), 'no place stays empty, and none is added')
      const most = Math.max(...replays.values())
      for (const [account, count] of replays) {
        const sent = order.filter(each => each === account).length
        if (count < sent)
          assert.ok(most <= count + 1, 'an account that was denied has as many places as any other')
      }
    }),
  )
})

t.test('denies the first duplicate of an account only while every place is of another account', async t => {
  const [mine, others] = [0, [1, 2, 3]]
  t.equal((await replaysOf([...others, mine], 4)).get(mine), 1)
  t.equal((await replaysOf([...others, mine], 3)).get(mine), 0)
  t.equal((await replaysOf([1, 1, 1, mine], 3)).get(mine), 1)
})

t.test('gives places by the rule of fairness, whatever was taken and given back before', t => {
  const step = fc.record({
    account: fc.constantFrom('a', 'b', 'c'),
    giveBack: fc.option(fc.nat({ max: 20 })),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 0, max: 4 }), (steps, most) => {
      const places = createWaitingPlacePool(most)
      // The same by counting: the places of each account, oldest first.
      const taken: { readonly account: string; readonly place: AbortController }[] = []
      const ever: typeof taken = []
      const countOf = (account: string): number => taken.filter(each => each.account === account).length
      const remove = (one: (typeof taken)[number]): void => void taken.splice(taken.indexOf(one), 1)
      for (const { account, giveBack } of steps) {
        const back = giveBack === null ? undefined : ever[giveBack]
        if (back) {
          places.giveBack(back.account, back.place)
          if (taken.includes(back)) remove(back)
          continue
        }
        const largest = Math.max(0, ...taken.map(each => countOf(each.account)))
        const isFull = taken.length >= most
        const place = places.take(account)
        assert.equal(place !== undefined, !isFull || largest >= countOf(account) + 2)
        if (!place) continue
        if (isFull) {
          const lost = taken.filter(each => each.place.signal.aborted)
          assert.equal(lost.length, 1, 'one request loses its place')
          const [loser] = lost as [(typeof taken)[number]]
          assert.equal(countOf(loser.account), largest)
          assert.equal(
            loser,
            taken.findLast(each => each.account === loser.account),
            'the newest',
          )
          remove(loser)
        }
        taken.push({ account, place })
        ever.push(taken.at(-1) as (typeof taken)[number])
        assert.ok(!taken.some(each => each.place.signal.aborted))
      }
    }),
    { numRuns: randomCases(200) },
  )
  t.end()
})
