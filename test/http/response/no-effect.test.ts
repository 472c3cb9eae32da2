// Which failures of a handler free its key, because the team has declared that nothing happened.
import { inspect } from 'node:util'
import { allow, Fault, scopeCatalogue, nothingHappened } from '@gatewright/kernel'
import { gate, type Decision, type Handler } from '@gatewright/http'
import type { SpendingCall } from '#packages/http/dist/handler-types.js'
import type { TransactionPort } from '#packages/http/dist/ports.js'
import { fetchGate } from '@gatewright/http/fetch'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import type { Access, SpendHold } from '@gatewright/scope-guard'
import { memorySpends } from '@gatewright/scope-guard/memory'
import t from 'tap'
import { bench } from '../../scope-guard/issuer.ts'

const rule = { operation: 'payments.create', allOf: ['payments.write'], spends: 'spend' } as const
type Pay = SpendingCall<Access, SpendHold>

async function setUp(noEffectStatuses?: readonly number[]) {
  const { guard, bearer } = await bench({
    policies: async ids => ids.map(() => ({ dailySpendCapCents: 10 })),
    spend: memorySpends(),
  })
  const decisions: Decision[] = []
  const hints: string[] = []
  const api = gate({
    guard,
    scopes: scopeCatalogue(['payments.write']),
    idempotency: createIdempotency({ storage: memoryIdempotency(), waitMs: 0 }),
    observe: decision => decisions.push(decision),
    hint: line => hints.push(line),
    report: () => {},
  })
  const authorization = await bearer({ scopes: ['payments.write'], policyIds: ['pol_1'] })
  const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })
  const route = api.idempotent(rule, noEffectStatuses ? { noEffectStatuses } : {})
  const pay = async (handler: Handler<Pay>, key = 'key-00000001') => {
    const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': key }
    const request = new Request('http://api.test/payments', { method: 'POST', headers, body: '{}' })
    const response = await handle(route, handler as never)(request, undefined)
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  return { api, pay, decisions, hints }
}

const describe = (error: unknown): string => inspect(error, { depth: 0 })

/** Reserves all that the cap allows, then throws. */
const reserving =
  (thrown: unknown): Handler<Pay> =>
  async ({ reserve }) => {
    const held = await reserve({ amountCents: 10, currency: 'USD' })
    if (!held.ok) return held
    throw thrown
  }

t.test('a marked error releases what the run reserved and frees its key', async t => {
  const { pay, decisions } = await setUp()
  t.equal((await pay(reserving(nothingHappened(new Error('no such account'))))).status, 500)
  t.match(decisions, [{ status: 500, outcome: 'released', effectId: String, failure: Error }])
  const done = await pay(async ({ reserve }) => {
    const held = await reserve({ amountCents: 10, currency: 'USD' })
    if (!held.ok) return held
    held.value.settle()
    return { status: 201, body: {} }
  })
  t.equal(done.status, 201, 'the amount is free again')
  t.match(decisions.at(-1), { outcome: 'stored', effectId: decisions[0]?.effectId })
})

t.test('a marked error releases a hold also if the handler has said another end', async t => {
  for (const end of ['settle', 'keep'] as const) {
    const { pay, decisions } = await setUp()
    await pay(async ({ reserve }) => {
      const held = await reserve({ amountCents: 10, currency: 'USD' })
      if (held.ok) held.value[end]()
      throw nothingHappened(new Error('the payment was declined'))
    })
    t.match(decisions, [{ outcome: 'released' }], end)
    await pay(reserving(nothingHappened(new Error('own'))), 'key-00000002')
    t.match(decisions.at(-1), { outcome: 'released', status: 500 }, 'the amount is free again')
  }
})

t.test('an error of a named status does the same, by any of its members', async t => {
  for (const error of [
    { status: 422 },
    { statusCode: 422 },
    { getStatus: () => 422 },
    { status: 422, statusCode: 400 },
    Object.assign(new Error('own'), { status: 422 }),
  ]) {
    const { pay, decisions } = await setUp([400, 422])
    for (const _ of [1, 2]) await pay(reserving(error))
    t.match(decisions, [{ outcome: 'released' }, { outcome: 'released' }], JSON.stringify(error))
  }
})

t.test('one named status is enough', async t => {
  const { pay, decisions } = await setUp([422])
  await pay(reserving({ status: 422 }))
  t.match(decisions, [{ outcome: 'released' }])
})

t.test('any other error leaves the outcome unknown and keeps what the run reserved', async t => {
  const getter = Object.defineProperty(new Error('own'), 'status', {
    get: () => {
      throw new Error('getter')
    },
  })
  for (const error of [
    new Error('no status'),
    undefined,
    null,
    422,
    '422',
    { status: '422' },
    { status: 409 },
    { status: 422, statusCode: 500 },
    { status: 422, getStatus: () => 500 },
    new Fault('ERR_STORE_UNAVAILABLE', 'postgres failed'),
    new Error('outer', { cause: nothingHappened(new Error('inner')) }),
    getter,
  ]) {
    const { pay, decisions } = await setUp([400, 422])
    await pay(reserving(error))
    const again = await pay(reserving(error))
    t.match(again, { status: 503, body: { error: 'outcome_unknown' } }, describe(error))
    t.match(decisions, [{ outcome: 'unknown' }, { outcome: 'unknown', code: 'outcome_unknown' }])
    const other = await pay(reserving(error), 'key-00000002')
    t.match(other, { status: 403, body: { error: 'policy_blocked' } }, 'the amount is still held')
  }
})

t.test('without noEffectStatuses no status frees a key', async t => {
  const { pay, decisions } = await setUp()
  await pay(reserving({ status: 422 }))
  t.match(decisions, [{ outcome: 'unknown', operation: 'payments.create', effectId: String }])
})

t.test('says once per operation that an outcome is unknown, and what to do', async t => {
  const { pay, hints, decisions } = await setUp()
  const thrown = Object.assign(new TypeError('card 4242 4242'), { status: 422 })
  for (const key of ['key-00000001', 'key-00000002', 'key-00000003'])
    await pay(() => Promise.reject(thrown), key)
  t.equal(hints.length, 1)
  t.match(hints[0], /^gatewright: payments\.create: .* the handler threw TypeError with status 422\./)
  t.match(hints[0], /nothingHappened or noEffectStatuses: .*docs\/idempotency\.md#a-run-of-unknown-outcome/)
  t.match(hints[0], decisions[0]?.effectId)
  t.notMatch(hints[0], /4242/, 'a message may have values of a request')
})

t.test('names the status of a response that leaves the outcome unknown', async t => {
  const { pay, hints, decisions } = await setUp()
  await pay(() => ({ status: 502, body: {} }))
  t.match(hints, [/the response has the status 502\. What to do: https/])
  t.match(decisions, [{ status: 502, outcome: 'unknown' }])
})

t.test('says how to reserve, or to end a hold, if that left the outcome unknown', async t => {
  for (const [handler, message] of [
    [
      () => ({ status: 201 }),
      /ERR_NOT_RESERVED: payments\.create would .* call reserve .* call spendsNothing\(\)/,
    ],
    [
      async ({ reserve }) => (await reserve({ amountCents: 1, currency: 'USD' }), { status: 201 }),
      /ERR_HOLD_NOT_ENDED: payments\.create would .* call hold\.settle/,
    ],
  ] as [Handler<Pay>, RegExp][]) {
    const { pay, hints } = await setUp()
    await pay(handler)
    t.match(hints, [message])
    t.notMatch(hints[0], /nothingHappened/, 'nothing was thrown')
  }
})

t.test('the response to a lost run says what to do', async t => {
  const { pay, decisions } = await setUp()
  await pay(() => Promise.reject(new Error('lost')))
  const { body } = await pay(() => ({ status: 201 }))
  t.match(body, { error: 'outcome_unknown', operationId: decisions[0]?.effectId })
  t.match(decisions[1], { outcome: 'unknown', effectId: decisions[0]?.effectId })
  t.match(body['message'], /same Idempotency-Key, never under a new one.*operator/)
  t.match(body['docs'], /^https:\/\/.*\/docs\/idempotency\.md#a-run-of-unknown-outcome$/)
})

t.test('the status of a returned denial is not an error', async t => {
  const { pay, decisions } = await setUp([409])
  t.equal((await pay(() => ({ status: 409, body: {} }))).status, 409)
  t.match(decisions, [{ outcome: 'stored' }])
})

t.test('refuses statuses that cannot say that nothing happened', async t => {
  const { api } = await setUp()
  for (const wrong of [[500], [399], [200, 422], [422.5], ['422'], 422, null, 'all'])
    t.throws(() => api.idempotent(rule, { noEffectStatuses: wrong as readonly number[] }), {
      name: 'TypeError',
      message: /^payments\.create: noEffectStatuses must be an array of statuses from 400 to 499, got /,
    })
  api.idempotent(rule, { noEffectStatuses: [] })
  api.idempotent(rule, { noEffectStatuses: [400, 499] })
})

t.test('a transactional route refuses the option, since every error rolls it back', async t => {
  const { guard } = await bench()
  const transactions: TransactionPort<object> = { run: async () => allow({}) as never }
  const api = gate({ guard, scopes: scopeCatalogue(['payments.write']), transactions })
  const { spends, ...plain } = rule
  t.equal(spends, 'spend')
  t.throws(() => api.transactional(plain, () => ({ status: 201 }), { noEffectStatuses: [422] } as object), {
    message: /noEffectStatuses is an option of idempotent/,
  })
})
