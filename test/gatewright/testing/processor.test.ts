import { testProcessor } from 'gatewright/testing'
import t from 'tap'

const payment = { amountCents: 2500 }

t.test('pays once for each idempotency key, however many requests arrive simultaneously', async t => {
  const processor = testProcessor()
  const receipts = await Promise.all(
    Array.from({ length: 20 }, () => processor.pay(payment, { idempotencyKey: 'a' })),
  )
  t.equal(new Set(receipts.map(({ id }) => id)).size, 1)
  t.match(receipts[0], { status: 'paid', payment, idempotencyKey: 'a' })
  t.equal(processor.paid.length, 1)
  t.equal(processor.requests, 20)
  await processor.pay(payment, { idempotencyKey: 'b' })
  t.equal(processor.paid.length, 2)
})

t.test('a request that timed out was paid, and its repeat gets the receipt', async t => {
  const processor = testProcessor()
  processor.timeOutNext()
  await t.rejects(processor.pay(payment, { idempotencyKey: 'a' }), { code: 'ETIMEDOUT' })
  t.equal(processor.paid.length, 1)
  t.equal((await processor.pay(payment, { idempotencyKey: 'a' })).id, processor.paid[0]?.id)
  t.equal(processor.paid.length, 1)
})

t.test('a request that failed paid nothing, and its repeat pays', async t => {
  const processor = testProcessor()
  processor.failNext()
  await t.rejects(processor.pay(payment, { idempotencyKey: 'a' }), { code: 'ECONNREFUSED' })
  t.equal(processor.paid.length, 0)
  t.equal((await processor.pay(payment, { idempotencyKey: 'a' })).status, 'paid')
  t.equal(processor.paid.length, 1)
})

t.test('a declined payment pays nothing, and its repeat is declined again', async t => {
  const processor = testProcessor()
  processor.declineNext()
  t.equal((await processor.pay(payment, { idempotencyKey: 'a' })).status, 'declined')
  t.equal((await processor.pay(payment, { idempotencyKey: 'a' })).status, 'declined')
  t.same(processor.paid, [])
})

t.test('each outcome holds for one request, in the order in which they were set', async t => {
  const processor = testProcessor()
  processor.failNext()
  processor.declineNext()
  processor.timeOutNext()
  await t.rejects(processor.pay(payment, { idempotencyKey: 'a' }), { code: 'ECONNREFUSED' })
  t.equal((await processor.pay(payment, { idempotencyKey: 'b' })).status, 'declined')
  await t.rejects(processor.pay(payment, { idempotencyKey: 'c' }), { code: 'ETIMEDOUT' })
  t.equal((await processor.pay(payment, { idempotencyKey: 'd' })).status, 'paid')
})

t.test('rejects a key that comes with another payment, and a payment without a key', async t => {
  const processor = testProcessor()
  await processor.pay(payment, { idempotencyKey: 'a' })
  await t.rejects(processor.pay({ amountCents: 1 }, { idempotencyKey: 'a' }), /another payment/)
  await t.rejects(processor.pay(payment, { idempotencyKey: '' }), /pass the effectId/)
  t.equal(processor.paid.length, 1)
})
