// `prepare` runs under the lease of its run: however long it takes, the handler starts with a lease of its own, or not at all.
import { allow } from '@gatewright/kernel'
import t from 'tap'
import { rule, setUp } from './spending.ts'

const LEASE_MS = 60_000

/** A route whose `prepare` and handler take as long as given. While they run, `meanwhile` is called. */
async function slowRoute(took: { prepareMs?: number; handlerMs?: number }) {
  const bench = await setUp()
  const { api, handle, clock, bearer, recoverAs } = bench
  recoverAs({ state: 'never_happened' })
  const seen = { prepared: 0, handled: 0 }
  const during: { prepare?: () => Promise<unknown>; handler?: () => Promise<unknown> } = {}
  const once = async (phase: 'prepare' | 'handler', ms = 0): Promise<void> => {
    const meanwhile = during[phase]
    delete during[phase]
    if (meanwhile === undefined) return
    clock.advance(ms)
    await meanwhile()
  }
  const route = api.idempotent(rule, {
    async prepare() {
      seen.prepared += 1
      await once('prepare', took.prepareMs)
      return allow({ price: 7 })
    },
    amount: ({ prepared }) => ({ amountCents: prepared.price, currency: 'USD' }),
  })
  const mounted = handle(route, async ({ prepared, effect }) => {
    seen.handled += 1
    await once('handler', took.handlerMs)
    return { status: 201, body: { price: prepared.price, fence: effect.fence } }
  })
  const authorization = await bearer({ scopes: ['payments.write'] })
  const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': 'key-00000001' }
  const send = (): Promise<Response> =>
    mounted(new Request('http://api.test/', { method: 'POST', headers, body: '{}' }), undefined)
  return { ...bench, seen, during, send }
}

t.test('a prepare that outlasts its lease lets no second handler run', async t => {
  const { seen, during, send, failures } = await slowRoute({ prepareMs: LEASE_MS })
  const others: Response[] = []
  during.prepare = async () => others.push(await send())
  const first = await send()
  t.equal(others[0]?.status, 201)
  t.equal(first.status, 201)
  t.equal(first.headers.get('idempotency-replayed'), 'true', 'it gets the response of the other run')
  t.same(await first.json(), await others[0]?.json())
  t.same(seen, { prepared: 2, handled: 1 })
  t.same(failures, [])
})

t.test('a handler has a whole lease, however much of one its prepare used', async t => {
  const { seen, during, send } = await slowRoute({ prepareMs: 40_000, handlerMs: 50_000 })
  const others: Response[] = []
  during.prepare = async () => {}
  during.handler = async () => others.push(await send())
  const first = await send()
  t.equal(others[0]?.status, 429, 'still running, 90 s after the first request began')
  t.equal(first.status, 201)
  t.equal(first.headers.get('idempotency-replayed'), null)
  t.same(seen, { prepared: 1, handled: 1 })
})

t.test('a prepare that outlasts its lease alone is followed by its handler', async t => {
  const { seen, during, send, failures } = await slowRoute({ prepareMs: LEASE_MS })
  during.prepare = async () => {}
  t.equal((await send()).status, 201)
  t.same(seen, { prepared: 1, handled: 1 })
  t.equal((await send()).headers.get('idempotency-replayed'), 'true')
  t.same(failures, [])
})
