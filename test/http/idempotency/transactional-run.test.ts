// What a transactional write asks of its record and its guard.
import { allow, scopeCatalogue, type Rule } from '@gatewright/kernel'
import { gate, type Decision, type HandlerResponse } from '@gatewright/http'
import type { Failure } from '#packages/http/dist/options.js'
import type { TransactionContext } from '#packages/http/dist/handler-types.js'
import type { TransactionPort } from '#packages/http/dist/ports.js'
import { fetchGate } from '@gatewright/http/fetch'
import { memorySpends } from '@gatewright/scope-guard/memory'
import type { SpendHold } from '@gatewright/scope-guard'
import t from 'tap'
import { bench } from '../../scope-guard/issuer.ts'

const rule = { operation: 'payments.create', allOf: ['payments.write'] } as const
const spending = { ...rule, spends: 'spend' } as const
const CENT = { amountCents: 1, currency: 'USD' }
type Context = TransactionContext<unknown, SpendHold>
type Recorded = Awaited<ReturnType<Parameters<TransactionPort<unknown>['run']>[1]>>
interface SetUp {
  readonly as?: Rule<'payments.write'>
  readonly counts?: boolean
  readonly stores?: boolean
  /** The response of another run, which completes while the handler runs. */
  readonly other?: Recorded
}

/** Serves a transactional write over a record that is kept in a list. */
async function setUp(
  handler: (context: Context) => Promise<HandlerResponse> | HandlerResponse,
  { as = spending, counts = true, stores = true, other }: SetUp = {},
) {
  const { guard, bearer } = await bench({
    policies: async ids => ids.map(() => ({ dailySpendCapCents: 10 })),
    spend: memorySpends(),
  })
  const failures: Failure[] = []
  const decisions: Decision[] = []
  const targets: string[] = []
  const stored: Recorded[] = []
  const transactions: TransactionPort<unknown> = {
    async run({ target }, work) {
      targets.push(target)
      const replay = stored[0]
      if (replay) return allow({ response: replay, replayed: true, expiresAt: 9000, effectId: 'effect' })
      const response = await work({}, { fence: 1, effectId: 'effect' })
      stored.push(other ?? response)
      return allow({ response: other ?? response, replayed: other !== undefined, expiresAt: 9000 })
    },
  }
  const { check, prepare } = guard
  const api = gate({
    guard: counts ? guard : { check, prepare },
    scopes: scopeCatalogue(['payments.write']),
    transactions,
    report: failure => failures.push(failure),
    observe: decision => decisions.push(decision),
    ...(stores && { spendStorage: () => memorySpends() }),
  })
  const route = api.transactional(as, async (_call, context) => handler(context as unknown as Context))
  const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })
  const served = handle(route)
  const authorization = await bearer({ scopes: ['payments.write'], policyIds: ['pol_1'] })
  const send = async (search = ''): Promise<Response> => {
    const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': 'key-00000001' }
    return served(
      new Request(`http://api.test/p${search}`, { method: 'POST', headers, body: '{}' }),
      undefined,
    )
  }
  return { send, failures, decisions, targets, stored }
}

t.test('stores the amounts that the run reserved, and no list without one', async t => {
  const reserving = await setUp(async ({ reserve }) => {
    await reserve(CENT)
    return { status: 201 }
  })
  t.equal((await reserving.send()).status, 201)
  t.strictSame(reserving.stored[0]?.spends, [CENT])
  const other = await setUp(({ spendsNothing }) => {
    spendsNothing()
    return { status: 201 }
  })
  await other.send()
  t.notOk('spends' in (other.stored[0] as object))
})

t.test(
  'names one effect in the events of a transaction that is rolled back, of one that commits, and of a replay',
  async t => {
    let runs = 0
    const { send, decisions } = await setUp(({ spendsNothing }) => {
      runs += 1
      if (runs === 1) throw new Error('rolled back')
      spendsNothing()
      return { status: 201 }
    })
    for (const status of [500, 201, 201]) t.equal((await send()).status, status)
    t.match(decisions, [
      { effectId: 'effect', replayed: false },
      { effectId: 'effect', replayed: false },
      { effectId: 'effect' },
    ])
    t.equal(runs, 2)
  },
)

t.test('refuses a second reservation, and any where the rule, the guard or the storage cannot', async t => {
  const twice = await setUp(async ({ reserve }) => {
    await reserve(CENT)
    await reserve(CENT)
    return { status: 201 }
  })
  t.equal((await twice.send()).status, 500)
  t.match(twice.failures, [
    {
      error: {
        message: 'payments.create: a run may reserve at most once: reserve a sum, or make several requests',
      },
    },
  ])
  const reserving = async ({ reserve }: Context): Promise<HandlerResponse> => {
    await reserve(CENT)
    return { status: 201 }
  }
  const made = await setUp(reserving, { as: rule })
  t.equal((await made.send()).status, 500)
  t.match(made.failures, [
    { error: { message: 'payments.create may not reserve anything: its rule must spend' } },
  ])
  for (const options of [{ counts: false }, { stores: false }, { counts: false, stores: false }])
    await t.rejects(setUp(reserving, options), {
      name: 'TypeError',
      message: /payments\.create: its rule spends, and nothing counts it/,
    })
})

t.test(
  'rolls back a success without a reservation, unless the handler says that it spends nothing',
  async t => {
    for (const [status, sent, stored] of [
      [201, 503, 0],
      [404, 404, 1],
    ] as const) {
      const made = await setUp(() => ({ status }))
      t.equal((await made.send()).status, sent)
      t.equal(made.stored.length, stored)
    }
    const denied = await setUp(async ({ reserve }) => {
      await reserve({ amountCents: 11, currency: 'USD' })
      return { status: 201 }
    })
    t.equal((await denied.send()).status, 503)
    t.match(denied.failures, [
      { error: { code: 'ERR_NOT_RESERVED', message: /payments\.create .*spendsNothing\(\)/ } },
    ])
  },
)

t.test('asks the guard whether an amount is permitted, and fails without such a guard', async t => {
  const permitting = async ({ permits, spendsNothing }: Context): Promise<HandlerResponse> => {
    spendsNothing()
    return { status: 200, body: (await permits({ amountCents: 11, currency: 'EUR' })).ok }
  }
  const made = await setUp(permitting)
  t.equal(await (await made.send()).text(), 'false')
  const without = await setUp(permitting, { as: rule, counts: false })
  t.equal((await without.send()).status, 500)
  t.match(without.failures, [{ error: { message: 'payments.create: the guard must have permits' } }])
})

t.test('sends the response of another run that completed meanwhile, not that of its own', async t => {
  const other = { status: 202, headers: [], body: 'other' }
  const { send, decisions } = await setUp(() => ({ status: 201, body: 'own' }), { as: rule, other })
  const response = await send()
  t.equal(response.status, 202)
  t.equal(await response.text(), 'other')
  t.match(decisions, [{ status: 202, replayed: true }])
})

t.test('the event of a denial has its reason, which is not stored for a replay', async t => {
  const { send, decisions } = await setUp(() => ({
    ok: false,
    code: 'conflict',
    status: 409,
    message: 'there is one',
    reason: 'the cause',
  }))
  for (const _ of [1, 2]) t.equal((await send()).status, 409)
  t.match(decisions, [
    { code: 'conflict', reason: 'the cause', replayed: false },
    { code: 'conflict', reason: undefined, replayed: true },
  ])
})

t.test('does not compare the query unless the route says so', async t => {
  const { send, targets } = await setUp(() => ({ status: 201 }))
  await send('?a=1')
  t.same(targets, ['["/p",[]]'])
})
