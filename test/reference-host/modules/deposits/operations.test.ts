// The operations of deposits, called without a host around them.
import { rows } from '@gatewright/kernel/sql'
import type { Operation } from '@gatewright/host'
import { ledgerAccounts } from '@gatewright/host/internal'
import type { DepositProvider } from '#packages/reference-host/dist/providers/deposits/port.js'
import t from 'tap'
import * as internals from '../../../harness/internals.ts'
import { openMoney, withoutVarying, type OperationResult } from '../../harness/money-operations.ts'
import { uniqueName } from '../../../harness/stores.ts'

const DAY_MS = 86_400_000
/** Changes to what the provider quotes and opens. */
let [quoted, opening]: [object, object] = [{}, {}]
let opened = 0
const { db, clock, services, addAccount, balance, run } = await openMoney(t)
const sandbox = internals.PORTS.deposits.sandbox({ db, clock })
/** What else happens while the provider opens a deposit. */
let meanwhile = async (_id: string): Promise<void> => {}
const provider: DepositProvider = {
  ...sandbox,
  quote: async (want, signal) => ({ ...(await sandbox.quote(want, signal)), ...quoted }),
  async open(id, want, signal) {
    opened += 1
    await meanwhile(id)
    return { ...(await sandbox.open(id, want, signal)), ...opening }
  },
}
/** Which accounts do not meet the onboarding requirements. */
const locked = new Set<string>()
const requirements = {
  check: async (_: unknown, { accountId }: { accountId: string }) =>
    locked.has(accountId)
      ? { ok: false, code: 'policy_blocked', message: 'locked' }
      : { ok: true, value: undefined },
}
const own = { ...services, requirements, providers: { deposits: provider } } as unknown as typeof services
const all = internals.depositOperations(own)
const operation = (id: string, surface = 'user', of = all): Operation =>
  of.find(each => each.id === id && each.surface === surface) as Operation
const [create, list, read, simulate] = [
  operation('deposits.create'),
  operation('deposits.list'),
  operation('deposits.read'),
  operation('deposits.simulate'),
]
const createByPartner = operation('deposits.create', 'partner')
const range = operation('deposits.range', 'partner')
const estimate = operation('deposits.estimate', 'partner')
const move = internals.transferDeposit(own)
const USDC = { currency: 'usdc', network: 'base' }
const depositOf = ({ data }: OperationResult) => data!['deposit'] as Record<string, unknown> & { id: string }
const open = async (accountId: string, more: object = {}) =>
  depositOf(await run(create, accountId, { body: { ...USDC, ...more } }))
const pay = (accountId: string, depositId: string, body: object = {}): Promise<OperationResult> =>
  run(simulate, accountId, { params: { depositId }, body })
const funds = (accountId: string): Promise<number> => balance(ledgerAccounts.user(accountId))

t.test('offers what the host can do', async t => {
  t.same(internals.depositOperations({ ...own, providers: {} }), [])
  const live = internals.depositOperations({ ...own, environment: 'live' })
  t.equal(operation('deposits.simulate', 'user', live), undefined)
  const scopes = (id: string, surface: string): unknown => operation(id, surface).scopes
  for (const id of ['deposits.list', 'deposits.read']) {
    t.same(scopes(id, 'user'), ['deposits.read'])
    t.same(scopes(id, 'partner'), [])
  }
  t.same([create.scopes, createByPartner.scopes], [['deposits.write'], []])
  t.match(create.details ?? '', /play money/)
  t.notMatch(createByPartner.details ?? '', /play money/)
  const body = { amountCents: 500 }
  const accountId = await addAccount()
  t.match(await run(operation('deposits.create', 'user', live), accountId, { body }), {
    code: 'invalid_request',
    message: /currency/,
  })
  t.match(await run(createByPartner, accountId, { body }), { code: 'invalid_request', message: /currency/ })
})

t.test('responds as its examples say', async t => {
  const accountId = await addAccount(10_000)
  for (const each of [create, createByPartner, range, estimate]) {
    const { data } = await run(each, accountId, { body: each.example.body })
    t.same(withoutVarying(data), withoutVarying(each.example.response), `${each.surface} ${each.id}`)
  }
  const { id } = await open(accountId, { amount: '25' })
  const paid = await pay(accountId, id, simulate.example.body)
  t.same(withoutVarying(paid.data), withoutVarying(simulate.example.response))
  t.same(withoutVarying((await run(read, accountId, { params: { depositId: id } })).data), {
    deposit: withoutVarying(depositOf(paid)),
  })
  const { toContractId: contract } = move.example.body as { toContractId: string }
  const { contracts } = internals
  await contracts.insert(db, { id: contract, accountId, label: null, createdAt: 1 })
  const moved = await run(move, accountId, { body: move.example.body })
  t.same(withoutVarying(moved.data), withoutVarying(move.example.response))
})

t.test('credits play money once', async t => {
  const accountId = await addAccount()
  const effectId = uniqueName()
  const request = { effectId, body: { amountCents: 500, currency: 'USD' } }
  const made = await run(create, accountId, request)
  t.match(depositOf(made), { id: `dep_${effectId}`, status: 'completed', amountCents: 500, currency: 'USD' })
  await run(create, accountId, request)
  t.equal(await funds(accountId), 500)
  locked.add(accountId)
  t.match(await run(create, accountId, { body: { amountCents: 1 } }), { data: {} }, 'without requirements')
  t.match(await run(create, accountId, { body: {} }), { field: 'amountCents' })
  locked.delete(accountId)
  for (const [body, field] of [
    [{ amountCents: 5, currency: 'EUR' }, 'network'],
    [{ amountCents: 5, network: 'base' }, 'currency'],
    [{ currency: 'USD', network: 'base' }, 'currency'],
  ] as const)
    t.match(await run(create, accountId, { body }), { code: 'invalid_request', field })
  const problem = internals.compileSchema(create.body!)
  const amounts = [0, 1, 100_000_000, 100_000_001]
  t.same(
    amounts.map(amountCents => problem({ amountCents }) === undefined),
    [false, true, true, false],
  )
})

t.test('opens a deposit at the provider, and adds the job that asks for it', async t => {
  const accountId = await addAccount()
  const effectId = uniqueName()
  const request = { effectId, body: { currency: 'USDC', network: 'Base', amount: 25 } }
  const made = await run(create, accountId, request)
  t.match(depositOf(made), { id: `dep_${effectId}`, fromCurrency: 'usdc', status: 'awaitingDeposit' })
  t.match(await internals.depositTable.find(db, accountId, `dep_${effectId}`), { amount: '25' })
  t.same(await rows(db, 'select kind, due_at from gw_jobs where subject_id = $1', [`dep_${effectId}`]), [
    { kind: 'deposit.find', due_at: clock.now() },
  ])
  const calls = opened
  t.same(await run(create, accountId, request), made)
  t.equal(opened, calls, 'a repeat opens nothing')
  const twice = { ...request, effectId: uniqueName() }
  let first: OperationResult | undefined
  meanwhile = async () => {
    meanwhile = async () => {}
    first = await run(create, accountId, twice)
  }
  t.same(await run(create, accountId, twice), first, 'a repeat that opens it at the same time')
  const many = await addAccount()
  await run(create, many, { ...request, effectId: uniqueName(), body: { ...USDC, amountCents: 7 } })
  t.equal(await funds(many), 0, 'an amount of play money beside an asset credits nothing')
})

t.test('applies the onboarding requirements to users that open a deposit', async t => {
  const accountId = await addAccount()
  locked.add(accountId)
  const calls = opened
  const blocked = { code: 'policy_blocked', message: 'locked' }
  t.match(await run(create, accountId, { body: USDC }), blocked)
  t.equal(opened, calls)
  t.match(
    await run(createByPartner, accountId, { body: USDC }),
    { data: {} },
    'those of partners apply before',
  )
  locked.delete(accountId)
  opening = {
    get reference() {
      locked.add(accountId)
      return 'r'
    },
  }
  t.match(await run(create, accountId, { body: USDC }), blocked, 'checked again in the transaction')
  opening = {}
  t.match(createByPartner, { requires: 'onboarding', denies: [409] })
  t.notOk('requires' in create)
})

t.test('takes amounts within the limits of the quote and of what is opened', async t => {
  const accountId = await addAccount()
  const ask = async (amount: unknown): Promise<unknown> => {
    const { data, message } = await run(create, accountId, { body: { ...USDC, amount } })
    return data ? true : message
  }
  const [least, most] = ['amount must be from 1 to 50000', 'amount must be a decimal number above 0']
  t.same(
    [await ask('0.99'), await ask(1), await ask(50_000), await ask('50000.01')],
    [least, true, true, least],
  )
  t.equal(await ask(0), most)
  quoted = { maxAmount: null }
  opening = { minAmount: '2', maxAmount: null }
  t.same(
    [await ask('1.5'), await ask(2), await ask(60_000)],
    ['amount must be from 2 to no limit', true, true],
  )
  opening = { minAmount: '1', maxAmount: '3' }
  t.same([await ask(3), await ask('3.1')], [true, 'amount must be from 1 to 3'])
  quoted = {}
  opening = { rejected: 'closed' }
  t.equal(await ask(undefined), 'currency and network: closed')
  opening = {}
  t.equal(await ask(undefined), true)
  const calls = opened
  await ask('0.99')
  t.equal(opened, calls, 'nothing is opened outside the limits')
  const unknown = { body: { currency: 'doge', network: 'base', amount: '1' } }
  t.match(await run(create, accountId, unknown), { code: 'invalid_request', field: 'currency' })
})

t.test('lets at most 20 wait that are younger than 7 days', async t => {
  const accountId = await addAccount()
  const other = await addAccount()
  const first = await open(accountId)
  const start = clock.now()
  for (let n = 1; n < 20; n += 1) await open(accountId)
  const full = { code: 'policy_blocked', details: { rule: 'max_deposits' } }
  const calls = opened
  t.match(await run(create, accountId, { body: USDC }), full)
  t.equal(opened, calls, 'nothing is opened')
  t.match(await open(other), { status: 'awaitingDeposit' })
  await pay(accountId, first.id, { amount: '0.5' })
  t.match(await open(accountId), { status: 'awaitingDeposit' })
  t.match(await run(create, accountId, { body: USDC }), full)
  clock.set(start + 7 * DAY_MS - 1)
  t.match(await run(create, accountId, { body: USDC }), full)
  clock.set(start + 7 * DAY_MS)
  t.match(await open(accountId), { status: 'awaitingDeposit' })
})

t.test('lists the deposits that wait for money, or all', async t => {
  const accountId = await addAccount()
  const ids: string[] = []
  for (let n = 0; n < 3; n += 1) ids.unshift((await open(accountId)).id)
  const start = clock.now()
  const page = async (query: string): Promise<readonly [string[], string | null]> => {
    const { deposits, nextCursor } = (await run(list, accountId, { query })).data!
    return [deposits.map(({ id }: { id: string }) => id), nextCursor]
  }
  const [first, cursor] = await page('limit=2')
  t.same(first, ids.slice(0, 2))
  t.same(await page(`limit=2&cursor=${cursor}`), [ids.slice(2), null])
  t.same(await page('scope=active&limit=3'), [ids, null])
  await pay(accountId, ids[0] as string)
  t.same(await page(''), [ids.slice(1), null])
  t.same(await page('scope=all'), [ids, null])
  clock.set(start + 7 * DAY_MS - 1)
  t.same(await page(''), [ids.slice(1), null])
  clock.set(start + 7 * DAY_MS)
  t.same(await page(''), [[], null])
  t.same(await page('scope=all'), [ids, null])
  for (const [query, field] of [
    ['scope=some', 'scope'],
    ['limit=0', 'limit'],
  ] as const)
    t.match(await run(list, accountId, { query }), { code: 'invalid_request', field })
})

t.test('reads and pays only deposits of the account', async t => {
  const [accountId, other] = [await addAccount(), await addAccount()]
  const deposit = await open(accountId)
  const params = { depositId: deposit.id }
  t.same(depositOf(await run(read, accountId, { params })), deposit)
  for (const each of [read, simulate]) t.match(await run(each, other, { params }), { code: 'not_found' })
})

t.test('prices a simulated payment as the provider quotes it', async t => {
  const accountId = await addAccount()
  const paid = async (opens: object, body: object): Promise<unknown> => {
    const result = await pay(accountId, (await open(accountId, opens)).id, body)
    if (!result.data) return result.field
    const { status, creditedCents } = depositOf(result)
    return [status, creditedCents]
  }
  t.same(await paid({ amount: '30' }, {}), ['completed', 3000], 'the amount of the deposit')
  t.same(await paid({ amount: '30' }, { amount: '2.5' }), ['completed', 250])
  t.same(await paid({}, {}), ['completed', 100], 'its smallest')
  t.same(await paid({}, { amount: '0.99' }), ['failed', 0])
  t.equal(await paid({}, { amount: 0 }), 'amount')
  for (const [toAmount, expected] of [
    ['0.004', 'amount'],
    ['0.01', ['completed', 1]],
    ['10000000000', ['completed', 1_000_000_000_000]],
    ['10000000000.01', 'amount'],
  ] as const) {
    quoted = { toAmount }
    t.same(await paid({}, {}), expected, toAmount)
    quoted = {}
  }
  const { id } = await open(accountId)
  quoted = { rejected: 'closed' }
  t.match(await pay(accountId, id), { code: 'invalid_request', field: 'currency' })
  quoted = {}
})

t.test('estimates a payment in units of the asset or in dollars', async t => {
  const accountId = await addAccount()
  const ask = async (amount: unknown, amountCurrency?: string): Promise<unknown> => {
    const body = { currency: 'XRP', network: 'Ripple', amount, ...(amountCurrency ? { amountCurrency } : {}) }
    const { data, field } = await run(estimate, accountId, { body })
    return data ? data['estimate'].estimatedToAmount : field
  }
  t.same([await ask('30'), await ask(30, 'crypto')], ['15.00', '15.00'])
  t.equal(await ask('12.5', 'usd'), '12.50')
  t.same([await ask('0'), await ask('1.234', 'usd'), await ask('2.345')], ['amount', 'amount', '1.17'])
  quoted = { minAmountCents: 100, maxAmountCents: 200, minAmount: '20', maxAmount: '40' }
  for (const [amount, isInside] of [
    ['0.99', false],
    ['1', true],
    ['2', true],
    ['2.01', false],
  ] as const) {
    t.equal(await ask(amount, 'usd'), isInside ? Number(amount).toFixed(2) : 'amount', `${amount} USD`)
    const units = String(Number(amount) * 20)
    t.equal(await ask(units), isInside ? (Number(amount) * 10).toFixed(2) : 'amount', `${units} XRP`)
  }
  quoted = { maxAmountCents: null, maxAmount: null }
  t.same([await ask('60000', 'usd'), await ask('120000')], ['60000.00', '60000.00'])
  quoted = {}
  for (const each of [estimate, range])
    t.match(await run(each, accountId, { body: { currency: 'doge', network: 'base', amount: '1' } }), {
      code: 'invalid_request',
      field: 'currency',
    })
})

t.test('moves money between the balance and contracts of the account', async t => {
  const accountId = await addAccount(1000)
  const other = await addAccount(1000)
  const { contracts } = internals
  const contract = async (owner: string): Promise<string> =>
    (await contracts.insert(db, { id: uniqueName(), accountId: owner, createdAt: 1 }))!.id
  const [one, two, foreign] = [await contract(accountId), await contract(accountId), await contract(other)]
  const transfer = (amountCents: number, from: string | null, to: string | null, effectId = uniqueName()) =>
    run(move, accountId, { effectId, body: { amountCents, fromContractId: from, toContractId: to } })
  const sums = async (): Promise<number[]> => [
    await funds(accountId),
    await balance(ledgerAccounts.contract(accountId, one)),
    await balance(ledgerAccounts.contract(accountId, two)),
  ]
  const effectId = uniqueName()
  const made = await transfer(600, null, one, effectId)
  const createdAt = new Date(clock.now()).toISOString()
  t.match(made, { data: { transfer: { id: `move_${effectId}`, amountCents: 600, createdAt } } })
  clock.advance(1000)
  t.same(await transfer(600, null, one, effectId), made, 'once')
  t.same(await sums(), [400, 600, 0])
  await transfer(250, one, two)
  t.same(await sums(), [400, 350, 250])
  await transfer(50, two, null)
  t.same(await sums(), [450, 350, 200])
  const { rows: rowsOf } = await internals.transactions.page(db, accountId, { limit: 9 })
  t.match(rowsOf, [
    { direction: 'credit', description: 'Taken back', amountCents: 50 },
    { direction: 'debit', description: 'Set aside', amountCents: 600 },
    { description: 'Play money' },
  ])
  t.equal(rowsOf.length, 3)
  t.match(await transfer(201, two, null), { field: 'amountCents', details: { availableCents: 200 } })
  for (const [from, to, field] of [
    [one, one, 'toContractId'],
    [null, null, 'toContractId'],
  ] as const)
    t.match(await transfer(1, from, to), { code: 'invalid_request', field })
  t.match(await transfer(1, foreign, null), { code: 'not_found', field: 'fromContractId' })
  t.match(await transfer(1, null, foreign), { code: 'not_found', field: 'toContractId' })
  const problem = internals.compileSchema(move.body!)
  const body = { amountCents: 1, fromContractId: null, toContractId: null }
  for (const [name, values] of [
    ['amountCents', [0, 1, 100_000_000, 100_000_001]],
    ['toContractId', ['', 'x', 'x'.repeat(120), 'x'.repeat(121)]],
  ] as const)
    t.same(
      values.map(value => problem({ ...body, [name]: value }) === undefined),
      [false, true, true, false],
      name,
    )
})
