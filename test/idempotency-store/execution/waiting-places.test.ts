import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import fc from 'fast-check'
import t from 'tap'
import { response, stillTimer, write } from '../support.ts'

/**
 * Sends the duplicates of several accounts in this order, while the first request of each account runs, and returns how many of
 * each account's duplicates were replayed. The others were refused as in progress.
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
    else t.equal(duplicate.code, 'request_in_progress')
  }
  return replays
}

t.test('shares the places fairly, in whatever order the duplicates of accounts come', async t => {
  const orders = fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(orders, fc.integer({ min: 1, max: 12 }), async (order, maxWaiters) => {
      const replays = await replaysOf(order, maxWaiters)
      const total = [...replays.values()].reduce((sum, count) => sum + count, 0)
      t.equal(total, Math.min(order.length, maxWaiters), 'no place stays empty, and none is added')
      const most = Math.max(...replays.values())
      for (const [account, count] of replays) {
        const sent = order.filter(each => each === account).length
        if (count < sent)
          t.ok(most <= count + 1, 'an account that was refused has as many places as any other')
      }
    }),
  )
})

t.test('refuses the first duplicate of an account only while every place is of another account', async t => {
  const [mine, others] = [0, [1, 2, 3]]
  t.equal((await replaysOf([...others, mine], 4)).get(mine), 1)
  t.equal((await replaysOf([...others, mine], 3)).get(mine), 0)
  t.equal((await replaysOf([1, 1, 1, mine], 3)).get(mine), 1)
})
