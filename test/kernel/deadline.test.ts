import { readText, withDeadline } from '@gatewright/kernel/internal'
import t from 'tap'
import { collectGarbage } from '../harness/collect-garbage.ts'

const never = (): Promise<never> => new Promise(() => {})

t.test('rejects at its deadline or when the signal aborts, whatever the call does', async t => {
  const ending = withDeadline({ ms: 50 }, never)
  setImmediate(collectGarbage)
  await t.rejects(ending, { name: 'TimeoutError', message: 'timeout after 50 ms' })
  const caller = new AbortController()
  const canceled = withDeadline({ ms: 60_000, signal: caller.signal }, never)
  caller.abort(new Error('stopped'))
  await t.rejects(canceled, { message: 'stopped' })
  await t.rejects(withDeadline({ signal: caller.signal }, never), { message: 'stopped' }, 'aborted before')
})

t.test('the signal of the call aborts at the deadline, and how the call ends later is ignored', async t => {
  const reasons: unknown[] = []
  const call = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        reasons.push(signal.reason)
        reject(new Error('the connection was closed'))
      })
    })
  await t.rejects(withDeadline({ ms: 1 }, call), { name: 'TimeoutError' })
  t.match(reasons, [{ name: 'TimeoutError' }])
})

t.test('gives what the call gives, and what it throws', async t => {
  const { signal } = new AbortController()
  t.equal(await withDeadline({ ms: 60_000, signal }, async () => 7), 7)
  const broken = (): never => {
    throw new Error('broken')
  }
  await t.rejects(withDeadline({ ms: 60_000 }, broken), { message: 'broken' })
})

t.test('reads a body up to its limit', async t => {
  t.equal(await readText(new Response('né'), 3), 'né')
  t.equal(await readText(new Response(null), 0), '')
  await t.rejects(readText(new Response('née'), 3), { message: 'the response is larger than 3 bytes' })
})
