import { scopeCatalogue } from '@gatewright/kernel'
import { gate } from '@gatewright/http'
import { fetchGate } from '@gatewright/http/fetch'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryStorage } from '@gatewright/idempotency-store/memory'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import { migrate, sqliteStorage } from '@gatewright/idempotency-store/sqlite'
import { fromSqlite } from '@gatewright/kernel/sql'
import { Hono } from 'hono'
import Database from 'libsql'
import t from 'tap'
import { bench } from '../../scope-guard/issuer.ts'

const rule = { operation: 'bills.pay', allOf: ['bills.write'] } as const

/** Pays bills, in a record of its own and in one transaction with the rows. */
async function setUp(t: { teardown(end: () => void): void }) {
  const database = new Database(':memory:')
  t.teardown(() => database.close())
  const db = fromSqlite(database)
  await migrate(db)
  const { guard, bearer } = await bench()
  const api = gate({
    ...{ guard, scopes: scopeCatalogue(['bills.write']) },
    idempotency: createIdempotency({ storage: memoryStorage() }),
    transactions: createTransactionalIdempotency({ db, storage: tx => sqliteStorage(tx) }),
  })
  const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })
  const effects = new Set<string>()
  const paid = (bill: unknown, effectId: string) => {
    effects.add(effectId)
    return { status: 200, body: { paid: bill } }
  }
  // Any query: what counts is that it is declared.
  const query = {
    '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
  } as const
  const mounts = {
    recorded: handle(api.idempotent(rule, { query }), ({ params, effect }) =>
      paid(params['bill'], effect.effectId),
    ),
    transactional: handle(
      api.transactional(rule, async ({ params }, { effectId }) => paid(params['bill'], effectId), { query }),
    ),
    undeclared: handle(api.idempotent(rule), ({ params, effect }) => paid(params['bill'], effect.effectId)),
  }
  const authorization = await bearer({ scopes: ['bills.write'] })
  const pay = async (mount: keyof typeof mounts, params: Record<string, string>, search = '') => {
    const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': `key-${mount}` }
    const request = new Request(`http://api.test/pay${search}`, { method: 'POST', headers, body: '{}' })
    const answer = await mounts[mount](request, undefined, params)
    const replayed = answer.headers.get('idempotency-replayed') === 'true'
    return { status: answer.status, replayed, body: (await answer.json()) as object }
  }
  return { pay, effects }
}

for (const mount of ['recorded', 'transactional'] as const) {
  t.test(
    `${mount}: one key for two resources is a conflict, and never the answer about the other`,
    async t => {
      const { pay, effects } = await setUp(t)
      t.match(await pay(mount, { bill: 'A' }), { status: 200, replayed: false, body: { paid: 'A' } })
      const reused = { status: 400, body: { error: 'idempotency_key_reused' } }
      t.match(await pay(mount, { bill: 'B' }), reused, 'another parameter')
      t.match(await pay(mount, { bill: 'A', as: 'B' }), reused, 'one parameter more')
      t.match(await pay(mount, {}), reused, 'no parameter')
      t.match(await pay(mount, { bill: 'A' }, '?twice=yes'), reused, 'a query')
      t.match(await pay(mount, { bill: 'A' }), { status: 200, replayed: true, body: { paid: 'A' } })
      t.equal(effects.size, 1)
    },
  )

  t.test(`${mount}: the order of parameters and of names in the query makes no difference`, async t => {
    const { pay } = await setUp(t)
    await pay(mount, { bill: 'A', of: 'x' }, '?a=1&b=2')
    t.match(await pay(mount, { of: 'x', bill: 'A' }, '?b=2&a=1'), { status: 200, replayed: true })
    t.match(await pay(mount, { of: 'x', bill: 'A' }, '?b=1&a=2'), { status: 400 })
  })
}

t.test('a query that the route does not declare makes no difference', async t => {
  const { pay } = await setUp(t)
  await pay('undeclared', { bill: 'A' }, '?retry=1')
  t.match(await pay('undeclared', { bill: 'A' }, '?retry=2'), { status: 200, replayed: true })
  t.match(await pay('undeclared', { bill: 'B' }, '?retry=3'), { status: 400 })
})

t.test('existing handlers: the parameters of a Hono route, and those that are passed to wrap', async t => {
  const { guard, bearer } = await bench()
  const idempotency = createIdempotency({ storage: memoryStorage() })
  const api = gate({ guard, idempotency, scopes: scopeCatalogue(['bills.write']) })
  const gw = fetchGate(api, { body: 'clone', peer: 'none' })
  const route = api.idempotent(rule)
  const app = new Hono()
  app.post('/guarded/:bill', gw.guard(route), c => c.json({ paid: c.req.param('bill') }))
  const wrapped = gw.wrap(route, async (_request, { params }) => Response.json({ paid: params['bill'] }))
  app.post('/wrapped/:bill', c => wrapped(c.req.raw, c.env, c.req.param()))
  const authorization = await bearer({ scopes: ['bills.write'] })
  for (const kind of ['guarded', 'wrapped']) {
    const pay = async (bill: string): Promise<unknown[]> => {
      const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': `key-${kind}` }
      const answer = await app.request(`/${kind}/${bill}`, { method: 'POST', headers, body: '{}' })
      const { paid } = (await answer.json()) as { paid?: string }
      return [answer.status, paid, answer.headers.get('idempotency-replayed')]
    }
    t.same(await pay('A'), [200, 'A', null], kind)
    t.same(await pay('B'), [400, undefined, null], kind)
    t.same(await pay('A'), [200, 'A', 'true'], kind)
  }
})
