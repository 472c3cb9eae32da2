import { randomUUID } from 'node:crypto'
import { allow, scopeCatalogue, type Verdict } from '@gatewright/kernel'
import { fromSqlite, rows } from '@gatewright/kernel/sql'
import { gate, type Decision, type HandlerResponse, type OpenCall } from '@gatewright/http'
import { expressGate } from '@gatewright/http/express'
import { fetchGate } from '@gatewright/http/fetch'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import { migrateIdempotency, sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { migrateSpends, sqliteSpends } from '@gatewright/scope-guard/sqlite'
import Database from 'libsql'
import t from 'tap'
import { bench } from '../../scope-guard/issuer.ts'

const scopes = scopeCatalogue(['payments.write'])
const rule = { operation: 'payments.create', allOf: ['payments.write'], spends: 'spend' } as const

/** A gate over a ledger of its own, under a cap of 10 cents a day and 6 on one payment. */
async function setUp(t: { teardown(end: () => void): void }) {
  const database = new Database(':memory:')
  t.teardown(() => database.close())
  const db = fromSqlite(database)
  await migrateIdempotency(db)
  await migrateSpends(db)
  database.exec('create table payments (id text primary key, cents integer not null)')
  let perPayment = 6
  const { guard, bearer, clock } = await bench({
    policies: async ids => ids.map(() => ({ dailySpendCapCents: 10, maxAuthAmountCents: perPayment })),
    spend: sqliteSpends(db),
  })
  const decisions: Decision[] = []
  const api = gate({
    guard,
    scopes,
    observe: decision => decisions.push(decision),
    report: () => {},
    transactions: createTransactionalIdempotency({ db, storage: tx => sqliteIdempotency(tx), clock }),
    spendStorage: tx => sqliteSpends(tx),
  })
  const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })
  let prepares = 0
  let closed = true
  const route = api.transactional(
    rule,
    async ({ json }, { tx, effectId, reserve, prepared, abandon }): Promise<HandlerResponse> => {
      const body = json()
      if (!body.ok) return body
      const { amountCents, ending } = body.value
      const held = await reserve({ amountCents: amountCents as number, currency: 'USD' })
      if (!held.ok) return held
      const id = ending === 'own id' ? randomUUID() : effectId
      await tx.query('insert into payments (id, cents) values ($1, $2)', [id, Number(amountCents)])
      if (ending === 'abandon' && closed)
        abandon({ ok: false, code: 'invalid_state', status: 409, message: 'not yet' })
      if (ending === 'throw') throw new Error('broken')
      if (ending === 'deny') return { ok: false, code: 'declined', status: 422, message: 'declined' }
      if (ending === 'conflict')
        return { ok: false, code: 'conflict', status: 409, message: 'there is one', details: { at: 1 } }
      return { status: 201, body: { amountCents, prepared } }
    },
    {
      prepare: async ({ json }: Pick<OpenCall, 'json'>): Promise<Verdict<{ readonly rate: number }>> => {
        const body = json()
        if (body.ok && body.value['ending'] === 'unprepared' && closed)
          return { ok: false, code: 'not_found', status: 404, message: 'no rate' }
        return allow({ rate: ++prepares })
      },
    },
  )
  const serve = handle(route)
  const pay = async (body: object, key: string = randomUUID()) => {
    const headers = {
      authorization: await bearer({ scopes: ['payments.write'], policyIds: ['pol_1'] }),
      'content-type': 'application/json',
      'idempotency-key': key,
    }
    const request = new Request('http://api.test/p', { method: 'POST', headers, body: JSON.stringify(body) })
    const response = await serve(request, undefined)
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Record<string, unknown>,
    }
  }
  const paid = async (): Promise<number> => {
    const [row] = await rows(db, 'select coalesce(sum(cents), 0) as cents from payments')
    return Number(row?.['cents'])
  }
  return {
    api,
    guard,
    route,
    pay,
    paid,
    decisions,
    clock,
    prepares: () => prepares,
    open: () => {
      closed = false
    },
    narrow: (cents: number) => {
      perPayment = cents
      clock.advance(2000)
    },
  }
}

t.test('record, spend, rows and response commit together, and a repeat gets the stored response', async t => {
  const { pay, paid, decisions, prepares } = await setUp(t)
  const first = await pay({ amountCents: 4 }, 'payment-0001')
  t.match(first, { status: 201, body: { amountCents: 4, prepared: { rate: 1 } } })
  t.ok(first.headers.get('idempotency-expires'))
  const again = await pay({ amountCents: 4 }, 'payment-0001')
  t.match(again, { status: 201, body: first.body })
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.equal(await paid(), 4)
  t.equal(prepares(), 1, 'nothing is prepared for a replay')
  t.match(
    decisions.map(({ replayed }) => replayed),
    [false, true],
  )
})

t.test(
  'reserves again when a key is used again after its retention, although the first hold is still open',
  async t => {
    const { pay, paid, clock } = await setUp(t)
    const body = { amountCents: 3, ending: 'own id' }
    t.match(await pay(body, 'payment-0005'), { status: 201 })
    clock.advance(25 * 3_600_000)
    const next = await pay(body, 'payment-0005')
    t.match(next, { status: 201 })
    t.equal(next.headers.get('idempotency-replayed'), null)
    t.equal(await paid(), 6)
    t.match(await pay({ amountCents: 6 }), { status: 201 })
    t.match(await pay({ amountCents: 2 }), { status: 403 }, 'all of it counts')
  },
)

t.test('a denial and an error roll back rows and spend, and free the key', async t => {
  const { pay, paid } = await setUp(t)
  for (let round = 0; round < 3; round++) {
    t.match(await pay({ amountCents: 6, ending: 'deny' }, 'payment-0002'), {
      status: 422,
      body: { error: 'declined' },
    })
    t.match(await pay({ amountCents: 6, ending: 'throw' }), {
      status: 500,
      body: { error: 'internal_error' },
    })
  }
  t.equal(await paid(), 0)
  t.match(await pay({ amountCents: 6 }), { status: 201 }, 'the cap of a day is whole')
})

t.test('a denial of prepare stores and spends nothing, and the same key runs afterwards', async t => {
  const { pay, paid, open, prepares } = await setUp(t)
  const body = { amountCents: 6, ending: 'unprepared' }
  for (let round = 0; round < 2; round++) {
    const denied = await pay(body, 'payment-0006')
    t.match(denied, { status: 404, body: { error: 'not_found', message: 'no rate' } })
    t.equal(denied.headers.get('idempotency-replayed'), null)
  }
  t.equal(await paid(), 0)
  t.equal(prepares(), 0)
  open()
  t.match(await pay(body, 'payment-0006'), { status: 201, body: { prepared: { rate: 1 } } })
})

t.test('replays a stored denial unchanged', async t => {
  const { pay } = await setUp(t)
  const first = await pay({ amountCents: 1, ending: 'conflict' }, 'payment-0003')
  t.match(first, { status: 409, body: { error: 'conflict', message: 'there is one', at: 1 } })
  const again = await pay({ amountCents: 1, ending: 'conflict' }, 'payment-0003')
  t.same([again.status, again.body], [first.status, first.body])
  t.equal(again.headers.get('idempotency-replayed'), 'true')
})

t.test('an abandoned run stores nothing, not even a 409, and the same key runs afterwards', async t => {
  const { pay, paid, open, decisions } = await setUp(t)
  const body = { amountCents: 6, ending: 'abandon' }
  for (let round = 0; round < 2; round++) {
    const denied = await pay(body, 'payment-0004')
    t.match(denied, { status: 409, body: { error: 'invalid_state', message: 'not yet' } })
    t.equal(denied.headers.get('idempotency-replayed'), null)
    t.equal(denied.headers.get('idempotency-expires'), null)
  }
  t.equal(await paid(), 0)
  open()
  t.match(await pay(body, 'payment-0004'), { status: 201 }, 'the amount was not held either')
  t.equal(await paid(), 6)
  t.match(
    decisions.map(({ status, code }) => [status, code]),
    [[409, 'invalid_state'], [409, 'invalid_state'], [201]],
  )
})

t.test(
  'enforces caps under simultaneous payments, and checks a replay against the limits of the requesting session',
  async t => {
    const { pay, paid, narrow } = await setUp(t)
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, n) => pay({ amountCents: 5 }, `payment-1-${n}`)),
    )
    t.equal(responses.filter(({ status }) => status === 201).length, 2)
    t.match(
      responses.find(({ status }) => status === 403),
      { body: { error: 'policy_blocked' } },
    )
    t.equal(await paid(), 10)
    const key = `payment-1-${responses.findIndex(({ status }) => status === 201)}`
    narrow(4)
    t.match(await pay({ amountCents: 5 }, key), { status: 403, body: { error: 'policy_blocked' } })
  },
)

t.test('a transactional route has its own handler, and refuses another one', async t => {
  const { api, route } = await setUp(t)
  const http = expressGate(api, { body: 'stream' })
  t.throws(() => http.guard(route), /payments\.create has its own handler: mount it with handle/)
  t.throws(() => http.handle(route, () => ({ status: 200 })), /without another handler/)
  t.throws(
    () => (http.handle as (route: object) => unknown)(api.open('plans.list')),
    /plans\.list: the handler must be a function/,
  )
})

t.test(
  'refuses transactional without transactions, and reserve under a rule that does not spend',
  async t => {
    const { guard, api } = await setUp(t)
    const bare = gate({ guard, scopes }) as never as {
      transactional(rule: object, handler: unknown): unknown
    }
    t.throws(() => bare.transactional(rule, () => {}), /needs the option transactions/)
    t.throws(
      () => gate({ guard, scopes, transactions: {} as never }),
      /transactions must have the function run/,
    )
    t.throws(() => api.transactional(rule, undefined as never), /the handler must be a function/)
  },
)
