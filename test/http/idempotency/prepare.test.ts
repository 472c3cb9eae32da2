import { allow } from '@gatewright/kernel'
import { gate } from '@gatewright/http'
import type { Failure } from '#packages/http/dist/options.js'
import { fetchGate } from '@gatewright/http/fetch'
import t from 'tap'
import { created, rule, scopes, setUp, type Pay } from './spending.ts'

t.test('a denial and an error of prepare leave the key free', async t => {
  const { api, bearer, failures, handle } = await setUp()
  const seen: unknown[] = []
  const prepare = async (call: object) => {
    seen.push(['effect', 'reserve', 'prepared'].filter(name => name in call))
    const body = (call as Pay).json()
    if (!body.ok) return body
    const { say } = body.value
    if (say === 'throw') throw Object.assign(new Error('own'), { status: 400 })
    if (say === 'nothing') return undefined as never
    if (say === 404) return { ok: false, code: 'not_found', status: 404, message: 'no plan' } as const
    return allow({ price: 7 })
  }
  const route = api.idempotent(rule, { prepare })
  let runs = 0
  const mounted = handle(route, async ({ prepared, reserve }) => {
    runs++
    const hold = await reserve({ amountCents: prepared.price, currency: 'USD' })
    if (!hold.ok) return hold
    hold.value.settle()
    return { status: 201, body: prepared }
  })
  const send = async (say: unknown): Promise<Response> => {
    const authorization = await bearer({ scopes: ['payments.write'], policyIds: ['ten'] })
    const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': 'key-00000001' }
    const body = JSON.stringify({ say })
    return mounted(new Request('http://api.test/', { method: 'POST', headers, body }), undefined)
  }
  for (const [say, status] of [
    [404, 404],
    ['throw', 500],
    ['nothing', 500],
  ] as const) {
    for (const _ of [1, 2]) t.equal((await send(say)).status, status, String(say))
  }
  t.equal(runs, 0)
  t.match(
    failures,
    Array.from({ length: 4 }, () => ({ operation: 'payments.create', error: Error })),
  )
  const [first, again] = [await send('go'), await send('go')]
  t.same([await first.json(), await again.json()], [{ price: 7 }, { price: 7 }])
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.same(
    seen,
    Array.from({ length: 7 }, () => []),
    'without effect and reserve, and not for a replay',
  )
})

t.test('reports a key that cannot be freed after prepare, and still sends its denial', async t => {
  const { guard, bearer, idempotency, failures } = await setUp()
  const stuck = { ...idempotency, release: async () => Promise.reject(new Error('down')) }
  const report = (failure: Failure): unknown => failures.push(failure)
  const api = gate({ guard, scopes, idempotency: stuck, report })
  const no = { ok: false, code: 'not_found', status: 404, message: 'no plan' } as const
  const mounted = fetchGate(api, { body: 'stream', peer: 'none' }).handle(
    api.idempotent(rule, { prepare: () => no }),
    () => created,
  )
  const authorization = await bearer({ scopes: ['payments.write'] })
  const headers = { authorization, 'idempotency-key': 'key-00000001' }
  const response = await mounted(new Request('http://api.test/', { method: 'POST', headers }), undefined)
  t.equal(response.status, 404)
  t.match(failures, [{ error: { message: 'down' } }])
  const { release: _, ...without } = stuck
  const bare = gate({ guard, scopes, idempotency: without })
  t.throws(() => bare.idempotent(rule, { prepare: () => no }), /must have the function release/)
})
