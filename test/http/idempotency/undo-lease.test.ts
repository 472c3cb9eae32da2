// Reservations are released only while nobody else can hold them: before the last quarter of the lease.
import t from 'tap'
import { paying, setUp } from './spending.ts'

/** A handler that reserves twice and then denies. Each release takes the given time. */
async function setUpDenial(releaseMs: number) {
  const bench = await setUp({ ten: { dailySpendCapCents: 10 } })
  const { broken, clock, spend, send } = bench
  const released: unknown[] = []
  broken.release = async (...args) => {
    released.push(args)
    clock.advance(releaseMs)
    return spend.release(...args)
  }
  const response = await send(async ({ reserve }) => {
    for (const amountCents of [3, 4]) await reserve({ amountCents, currency: 'USD' })
    return { status: 422 }
  })
  delete broken.release
  return { ...bench, response, released }
}

t.test('releases both reservations of a denial that ends before the last quarter of the lease', async t => {
  const { released, left, send } = await setUpDenial(44_999)
  t.equal(released.length, 2)
  t.equal(await left(), 10)
  t.match(await send(paying), { status: 201 }, 'the key is free')
})

t.test('releases nothing more once the last quarter of the lease has begun', async t => {
  const { released, left, send, failures } = await setUpDenial(45_000)
  t.equal(released.length, 1)
  t.equal(await left(), 6, 'the second reservation stays')
  t.match(await send(() => ({ status: 201 })), { status: 503, body: { error: 'outcome_unknown' } })
  t.match(failures[0], { error: { code: 'ERR_LEASE_LOST' } })
})
