import type { Test } from 'tap'
import { createWorld, LARGEST_PAID, type Listening, type World } from './world.ts'

/**
 * Starts a server with the routes that the suite calls:
 * - `POST /payments`: `spends` is the amount of the body; the processor pays it, or the response is 402.
 * - `POST /refundable`: `spends` is the amount of the body; the handler settles half of it.
 * - `POST /withdrawals`: `spends: 'withdrawal'`; the handler reserves, pays and settles.
 * - `GET /payments/:id`: returns the id, the account, and `limit` of the query, a number.
 * - `GET /status`: open.
 * - `POST /existing`: an existing handler behind `protectWrite`, which pays 100.
 * - `GET /existing`: an existing handler behind `protectRead`.
 */
export type Start = (world: World) => Promise<Listening>

/** A client with a token of one account. */
function clientOf(world: World, url: string) {
  let serial = 0
  return async (
    path: string,
    body?: object,
    {
      scope = 'payments.read payments.write',
      account = 'auth0|ann',
      key = `key-${String(++serial).padStart(6, '0')}`,
    } = {},
  ): Promise<{ status: number; json: Record<string, unknown>; replayed: boolean }> => {
    const response = await fetch(url + path, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${await world.token(scope, account)}`,
        ...(body ? { 'content-type': 'application/json', 'idempotency-key': key } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return {
      status: response.status,
      json: (await response.json()) as Record<string, unknown>,
      replayed: response.headers.get('idempotency-replayed') === 'true',
    }
  }
}

/** Runs the suite that every framework and every store passes. */
export function suite(
  t: Test,
  name: string,
  start: Start,
  makeWorld: () => Promise<World> = async () => createWorld(),
): void {
  const test = (
    title: string,
    body: (t: Test, call: ReturnType<typeof clientOf>, world: World, url: string) => Promise<void>,
  ): void =>
    void t.test(`${name}: ${title}`, async t => {
      const world = await makeWorld()
      const server = await start(world)
      t.teardown(() => server.close())
      await body(t, clientOf(world, server.url), world, server.url)
    })

  test('pays once for one key, whatever number of requests repeat it', async (t, call, { processor }) => {
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => call('/payments', { amountCents: 100 }, { key: 'the-same-key' })),
    )
    for (const { status } of responses) t.equal(status, 201)
    t.equal(responses.filter(({ replayed }) => !replayed).length, 1)
    t.equal(processor.calls.length, 1)
    t.equal(responses[0]?.json['id'], processor.calls[0]?.idempotencyKey)
  })

  test('denies a request without token, scope or key, and with a wrong body', async (t, call, world, url) => {
    t.equal((await fetch(`${url}/payments`, { method: 'POST' })).status, 401)
    const narrow = await call('/payments', { amountCents: 100 }, { scope: 'payments.read' })
    t.match(narrow, { status: 403, json: { error: 'insufficient_scope', scope: 'payments.write' } })
    const keyless = await call('/payments', { amountCents: 100 }, { key: '' })
    t.match(keyless, { status: 400 })
    const wrong = await call('/payments', { amountCents: 'much' })
    t.match(wrong, { status: 400, json: { error: 'invalid_request', field: 'amountCents' } })
    t.same(world.processor.calls, [])
  })

  test('holds the amount against the cap before the handler runs', async (t, call, { processor }) => {
    const responses = await Promise.all(
      Array.from({ length: 6 }, () => call('/payments', { amountCents: 3000 })),
    )
    t.equal(responses.filter(({ status }) => status === 201).length, 3)
    const denied = responses.filter(({ status }) => status !== 201)
    for (const each of denied) t.match(each, { status: 403, json: { rule: 'dailySpendCapCents' } })
    t.equal(processor.calls.length, 3)
    t.match(await call('/payments', { amountCents: 3000 }, { account: 'auth0|bob' }), { status: 201 })
  })

  test('releases the amount of a payment that was declined', async (t, call) => {
    const declined = await call('/payments', { amountCents: LARGEST_PAID + 1 })
    t.match(declined, { status: 402, json: { error: 'payment_declined' } })
    t.match(await call('/payments', { amountCents: 5000 }), { status: 201 })
    t.match(await call('/payments', { amountCents: 5000 }), { status: 201 })
    t.match(await call('/payments', { amountCents: 1 }), { status: 403 })
  })

  test('counts what the handler settles', async (t, call) => {
    t.match(await call('/refundable', { amountCents: 10_000 }), { status: 201 })
    t.match(await call('/payments', { amountCents: 5000 }), { status: 201 })
    t.match(await call('/payments', { amountCents: 1 }), { status: 403 })
  })

  test('lets a handler reserve an amount that it learns', async (t, call) => {
    t.match(await call('/withdrawals', { amountCents: 4000 }), { status: 201 })
    t.match(await call('/withdrawals', { amountCents: 6001 }), { status: 403 })
    t.match(await call('/withdrawals', { amountCents: 0 }), { status: 200, json: { withdrawn: 0 } })
    t.match(await call('/withdrawals', { amountCents: 6000 }), { status: 201 })
  })

  test('serves reads to callers with the scope, and open operations to anyone', async (t, call, _, url) => {
    const read = await call('/payments/pay_1?limit=5')
    t.match(read, { status: 200, json: { id: 'pay_1', owner: 'auth0|ann', limit: 5 } })
    t.match(await call('/payments/pay_1', undefined, { scope: 'payments.write' }), { status: 403 })
    t.match(await call('/payments/pay_1?limit=many'), { status: 400, json: { field: 'limit' } })
    t.equal((await fetch(`${url}/payments/pay_1`)).status, 401)
    const open = await fetch(`${url}/status`)
    t.same([open.status, await open.json()], [200, { up: true }])
  })

  test('protects handlers that exist', async (t, call, { processor }) => {
    const first = await call('/existing', { note: 'a' }, { key: 'existing-key' })
    t.match(first, { status: 201, json: { owner: 'auth0|ann' } })
    const repeat = await call('/existing', { note: 'a' }, { key: 'existing-key' })
    t.match(repeat, { status: 201, json: first.json, replayed: true })
    t.equal(processor.calls.length, 1)
    t.equal(processor.calls[0]?.idempotencyKey, first.json['id'])
    t.match(await call('/existing', { note: 'a' }, { scope: 'payments.read' }), { status: 403 })
    t.match(await call('/existing'), { status: 200, json: { owner: 'auth0|ann', caller: 'auth0|ann' } })
    t.match(await call('/existing', undefined, { scope: 'other' }), { status: 403 })
  })
}
