// What the gate asks of the record of a write, and what it stores.
import { allow, Fault, scopeCatalogue } from '@gatewright/kernel'
import { gate, type Decision, type Handler, type IdempotencyPort } from '@gatewright/http'
import type { AliasPort } from '#packages/http/dist/ports.js'
import type { Failure } from '#packages/http/dist/options.js'
import type { SpendingCall } from '#packages/http/dist/handler-types.js'
import { fetchGate } from '@gatewright/http/fetch'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { createAliases } from '@gatewright/legacy-alias-router'
import type { Access, SpendHold, SpendStorage } from '@gatewright/scope-guard'
import { memorySpends } from '@gatewright/scope-guard/memory'
import t from 'tap'
import { bench } from '../../scope-guard/issuer.ts'

const rule = { operation: 'payments.create', allOf: ['payments.write'] } as const
const spending = { ...rule, spends: 'spend' } as const
type Pay = SpendingCall<Access, SpendHold>
interface SetUp {
  readonly aliases?: AliasPort
  readonly port?: (inner: IdempotencyPort) => Partial<IdempotencyPort>
  readonly spend?: Partial<SpendStorage>
}

/** A gate over a record whose calls are recorded. */
async function setUp({ aliases, port, spend }: SetUp = {}) {
  const { guard, bearer } = await bench({
    policies: async ids => ids.map(() => ({ dailySpendCapCents: 10 })),
    spend: { ...memorySpends(), ...spend },
  })
  const failures: Failure[] = []
  const decisions: Decision[] = []
  const inner = createIdempotency({ storage: memoryIdempotency() }) as IdempotencyPort
  const targets: unknown[] = []
  const completed: object[] = []
  const idempotency: IdempotencyPort = {
    ...inner,
    async begin(facts) {
      targets.push(JSON.parse(facts.target))
      return inner.begin(facts)
    },
    async complete(claim, output, undo) {
      completed.push(output)
      return inner.complete(claim, output, undo)
    },
    ...port?.(inner),
  }
  const api = gate({
    guard,
    scopes: scopeCatalogue(['payments.write']),
    idempotency,
    report: failure => failures.push(failure),
    observe: decision => decisions.push(decision),
    ...(aliases && { aliases }),
  })
  const authorization = await bearer({ scopes: ['payments.write'], policyIds: ['pol_1'] })
  const post = (search = '', body = '{}', key = 'key-00000001'): Request =>
    new Request(`http://api.test/payments${search}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', 'idempotency-key': key },
      body,
    })
  const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })
  const pay = async (handler: Handler<Pay>): Promise<number> =>
    (await handle(api.idempotent(spending), handler as never)(post(), undefined)).status
  return { api, handle, post, pay, failures, decisions, targets, completed }
}

t.test('stores the amounts that a run reserved, with the operations that they count as', async t => {
  const { pay, completed } = await setUp()
  const status = await pay(async ({ reserve }) => {
    const first = await reserve({ amountCents: 1, currency: 'USD' })
    const second = await reserve({ amountCents: 2, currency: 'USD', countsAs: ['payments.pay'] })
    for (const hold of [first, second]) if (hold.ok) hold.value.settle()
    return { status: 201 }
  })
  t.equal(status, 201)
  t.strictSame((completed[0] as { spends: unknown }).spends, [
    { amountCents: 1, currency: 'USD' },
    { amountCents: 2, currency: 'USD', countsAs: ['payments.pay'] },
  ])
})

t.test('names one effect in the events of all runs and replays of a request', async t => {
  const { pay, decisions } = await setUp()
  const free: Handler<Pay> = ({ effect: { effectId }, spendsNothing }) => {
    spendsNothing()
    return { status: 201, body: effectId }
  }
  await pay(({ spendsNothing }) => {
    spendsNothing()
    return { status: 400 }
  })
  await pay(free)
  await pay(free)
  t.match(decisions, [{ outcome: 'released' }, { outcome: 'stored' }, { replayed: true, outcome: undefined }])
  t.equal(new Set(decisions.map(({ effectId }) => effectId)).size, 1)
  t.type(decisions[0]?.effectId, 'string')
})

t.test('a reservation that fails before its handler responds ends no process', async t => {
  let reserved = 0
  const { pay, failures } = await setUp({
    spend: {
      reserve: async () => {
        reserved++
        throw new Fault('ERR_STORE_UNAVAILABLE', 'down')
      },
    },
  })
  const status = await pay(async ({ reserve }) => {
    void reserve({ amountCents: 1, currency: 'USD' })
    await new Promise(resolve => setImmediate(resolve))
    await new Promise(resolve => setImmediate(resolve))
    return { status: 201 }
  })
  t.equal(status, 503)
  t.equal(reserved, 1)
  t.match(failures, [{ error: { code: 'ERR_NOT_RESERVED' } }])
  // An unhandled rejection fails this test in the next turn.
  await new Promise(resolve => setImmediate(resolve))
})

t.test('gives reserve to a handler only if the rule of its operation spends', async t => {
  const { api, handle, post } = await setUp()
  for (const [route, has, key] of [
    [api.idempotent(rule), false, 'key-00000001'],
    [api.idempotent({ ...spending, operation: 'payments.spend' }), true, 'key-00000002'],
  ] as const) {
    const served = handle(route as never, call => {
      const { spendsNothing } = call as { spendsNothing?: () => void }
      spendsNothing?.()
      return { status: 200, body: 'reserve' in (call as object) }
    })
    t.equal(await (await served(post('', '{}', key), undefined)).text(), `${has}`)
  }
})

t.test('sends a failure if another run takes the key over each time that prepare runs', async t => {
  let begins = 0
  const { api, handle, post, failures } = await setUp({
    port: () => ({
      async begin() {
        begins++
        return allow({ state: 'started', claim: { fence: begins, effectId: 'effect' } })
      },
      renew: async () => undefined,
    }),
  })
  const route = api.idempotent(rule, { prepare: async () => allow({}) })
  const served = handle(route, () => t.fail('the handler ran') as never)
  t.equal((await served(post(), undefined)).status, 503)
  t.equal(begins, 2)
  t.match(failures, [{ error: { code: 'ERR_LEASE_LOST', message: /prepare outlived its lease twice/ } }])
})

t.test('the event says how long the store took to begin and to end a run', async t => {
  let now = 5000
  performance.now = () => now
  t.teardown(() => Reflect.deleteProperty(performance, 'now'))
  const { api, handle, post, decisions } = await setUp({
    port: inner => ({
      begin: async facts => {
        now += 10
        return inner.begin(facts)
      },
      complete: async (...args) => {
        now += 20
        return inner.complete(...args)
      },
    }),
  })
  const served = handle(api.idempotent(rule), () => ({ status: 201 }))
  for (const _ of [1, 2]) await served(post(), undefined)
  t.match(decisions, [{ storeMs: 30 }, { storeMs: 10 }])
})

t.test('a replay announces the old field names of its body', async t => {
  const aliases = createAliases({
    requestFields: [
      {
        operation: rule.operation,
        from: 'cap',
        to: 'capCents',
        mode: { deprecatedSince: Date.UTC(2026, 0, 1) },
      },
    ],
  })
  const { api, handle, post, decisions } = await setUp({ aliases })
  // This handler does not read its body.
  const served = handle(api.idempotent(rule), () => ({ status: 201 }))
  await served(post('', '{"cap":1}'), undefined)
  const replay = await served(post('', '{"cap":1}'), undefined)
  t.equal(replay.headers.get('idempotency-replayed'), 'true')
  t.match(replay.headers.get('deprecation'), /^@\d+$/)
  t.equal(decisions[1]?.aliases.length, 1)
})

t.test('compares the path, and the parameters of a query that counts, ordered by name', async t => {
  const { api, handle, post, targets } = await setUp()
  const counting = handle(api.idempotent(rule, { compareQuery: true }), () => ({ status: 201 }))
  const plain = handle(api.idempotent(rule), () => ({ status: 201 }))
  const many = Array.from({ length: 100 }, (_, index) => `m=${index % 7}-${index}`)
  for (const [search, parameters] of [
    ['', []],
    ['?', []],
    ['?b=1&a=2', ['a=2', 'b=1']],
    ['?a=2&b=1', ['a=2', 'b=1']],
    ['?&b&&a=&', ['a=', 'b']],
    ['?b=2&a=9&b=1&a=0', ['a=9', 'a=0', 'b=2', 'b=1']],
    ['?b=1&%61=2', ['%61=2', 'b=1']],
    [`?z&${many.join('&')}&a`, ['a', ...many, 'z']],
  ] as const) {
    targets.length = 0
    await counting(post(search), undefined)
    await plain(post(search), undefined)
    t.same(targets, [
      ['/payments', parameters],
      ['/payments', []],
    ])
  }
})
