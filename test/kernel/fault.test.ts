import { Fault, malformedReply, orFault } from '@gatewright/kernel'
import t from 'tap'

t.test('has its code, its cause, and a retry after 1 s by default', async t => {
  const cause = new Error('socket closed')
  const fault = new Fault('ERR_RPC_UNAVAILABLE', 'rpc failed', { cause, retryAfterSeconds: 7 })
  t.ok(fault instanceof Error)
  t.match(fault, { name: 'Fault', code: 'ERR_RPC_UNAVAILABLE', message: 'rpc failed', retryAfterSeconds: 7 })
  t.equal(fault.cause, cause)
  const plain = new Fault('ERR_STORE_FULL', 'full')
  t.equal(plain.retryAfterSeconds, 1)
  t.notOk('cause' in plain)
})

t.test('turns any error of a driver into a fault, with the error as its cause', async t => {
  for (const thrown of [new Error('boom'), 'a string', undefined, { code: 'ECONNREFUSED' }]) {
    const error = await orFault('redis', () => Promise.reject(thrown)).catch((reason: unknown) => reason)
    t.match(error, { name: 'Fault', code: 'ERR_STORE_UNAVAILABLE', message: 'redis failed' })
    t.equal((error as Fault).cause, thrown)
  }
})

t.test('turns an error that is thrown synchronously into a fault', async t => {
  const call = (): Promise<never> => {
    throw new TypeError('not connected')
  }
  await t.rejects(orFault('redis', call), { name: 'Fault', code: 'ERR_STORE_UNAVAILABLE' })
})

t.test('returns faults and results unchanged', async t => {
  const full = new Fault('ERR_STORE_FULL', 'full')
  t.equal(await orFault('memory', () => Promise.reject(full)).catch((reason: unknown) => reason), full)
  t.equal(await orFault('memory', async () => 42), 42)
})

t.test('names what was expected of a reply, but not the reply', async t => {
  t.match(malformedReply('redis', '1 or 0'), { code: 'ERR_STORE_REPLY', message: /redis .* expected 1 or 0/ })
})
