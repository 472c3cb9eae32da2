// The operations of withdrawals, called without a host around them.
import { rows } from '@gatewright/kernel/sql'
import type { Operation } from '@gatewright/host'
import { ledgerAccounts } from '@gatewright/host/internal'
import type { WithdrawalProvider } from '@gatewright/reference-host'
import t from 'tap'
import * as internals from '../../../harness/internals.ts'
import { openMoney, withoutVarying, type OperationResult } from '../../harness/money-operations.ts'
import { uniqueName } from '../../../harness/stores.ts'
import { OUTSIDE, withdrawalBody } from '../../harness/transfers.ts'

const MINUTE_MS = 60_000
const sandbox = internals.PORTS.withdrawals.sandbox({ db: {} as never, clock: { now: () => 0 } })
/** Changes to the quotes of the provider. */
let quoted: object = {}
const provider: WithdrawalProvider = {
  ...sandbox,
  quote: async (want, signal) => ({ ...(await sandbox.quote(want, signal)), ...quoted }),
}
const { db, clock, services, addAccount, balance, history, run } = await openMoney(t, {
  withdrawals: provider,
})
const { withdrawals } = services
const own = { ...services, receivers: [{ receiver: `0x${'a'.repeat(40)}` }] } as never as typeof services
const all = internals.withdrawalOperations(own)
const operation = (id: string, surface = 'user'): Operation =>
  all.find(each => each.id === id && each.surface === surface) as Operation
const [create, poll] = [operation('withdrawals.create'), operation('withdrawals.create', 'partner')]
const [list, read] = [operation('withdrawals.list'), operation('withdrawals.read')]
const range = operation('withdrawals.range', 'partner')
const estimate = operation('withdrawals.estimate', 'partner')
const held = (accountId: string): Promise<number> => balance(ledgerAccounts.held(accountId, 'withdrawals'))

async function report(id: string, status: string, reason: string | null = null): Promise<void> {
  const data = { id, status, reason, txHash: null, paidCents: null, relay: null } as never
  await db.transaction(tx => withdrawals.report(tx, provider.name, data, clock.now()))
}

t.test('offers nothing without a provider', async t => {
  t.same(internals.withdrawalOperations({ ...services, providers: {} }), [])
})

t.test('responds as its examples say', async t => {
  const accountId = await addAccount(5000)
  const withoutDestination = (data: unknown): unknown =>
    JSON.parse(JSON.stringify(withoutVarying(data)).replaceAll(/"0x\w+"/g, 'null'))
  for (const each of [create, poll, range, estimate]) {
    const { data } = await run(each, accountId, { body: each.example.body })
    t.same(withoutDestination(data), withoutDestination(each.example.response), `${each.surface} ${each.id}`)
  }
})

t.test('holds the money, and adds the job that sends it', async t => {
  const accountId = await addAccount(2500)
  const effectId = uniqueName()
  const id = `wd_${effectId}`
  const made = await run(create, accountId, { effectId, body: withdrawalBody(2500) })
  t.match(made, { data: { withdrawal: { id, status: 'pending' } }, next: `GET /user/v1/withdrawals/${id}` })
  t.equal(await held(accountId), 2500)
  t.same(await rows(db, 'select kind, due_at from gw_jobs where subject_id = $1', [id]), [
    { kind: 'withdrawal.send', due_at: clock.now() },
  ])
  t.same(await run(create, accountId, { effectId, body: withdrawalBody(2500) }), made)
  const blocked = { effectId, body: withdrawalBody(2500), policy: { maxAuthAmountCents: 2499 } }
  t.match(await run(create, accountId, blocked), { code: 'policy_blocked' }, 'a repeat under a lower limit')
  t.equal(await held(accountId), 2500)
  t.equal((await internals.anyWithdrawal.find(db, id))?.openToPollingUntil, null)
})

t.test('denies a withdrawal above a cap, and one above the balance', async t => {
  const accountId = await addAccount(1000)
  const policy = { dailyWithdrawalCapCents: 999 }
  t.match(await run(create, accountId, { policy, body: withdrawalBody(1000) }), { code: 'policy_blocked' })
  t.match(await run(create, accountId, { body: withdrawalBody(1001) }), {
    code: 'insufficient_balance',
    field: 'amountCents',
    details: { availableCents: 1000, requestedCents: 1001 },
  })
  t.equal(await held(accountId), 0)
  t.match(await run(create, accountId, { policy, body: withdrawalBody(999) }), { data: {} })
  t.match(await run(create, accountId, { policy, body: withdrawalBody(100) }), { code: 'policy_blocked' })
})

t.test('takes amounts from 1 to 100,000,000 cents within the limits of the quote', async t => {
  const accountId = await addAccount(200_000_000)
  const body = (amountCents: number): object => ({ body: withdrawalBody(amountCents) })
  const isTaken = async (amountCents: number): Promise<boolean> =>
    'data' in (await run(create, accountId, body(amountCents)))
  quoted = { minAmountCents: 0, maxAmountCents: null, feeCents: 0 }
  t.same([await isTaken(0), await isTaken(1)], [false, true])
  t.same([await isTaken(100_000_000), await isTaken(100_000_001)], [true, false])
  t.match(await run(create, accountId, body(100_000_001)), {
    message: 'amountCents must be at most 100000000',
  })
  quoted = { minAmountCents: 100, maxAmountCents: 200, feeCents: 50 }
  t.match(await run(create, accountId, body(99)), {
    message: 'amountCents must be from 100 to 200',
    details: { minAmountCents: 100, maxAmountCents: 200 },
  })
  t.same([await isTaken(100), await isTaken(200), await isTaken(201)], [true, true, false])
  quoted = { minAmountCents: 1, maxAmountCents: null, feeCents: 50 }
  t.match(await run(create, accountId, body(50)), { message: 'amountCents must be from 51 to no limit' })
  t.same([await isTaken(51), await isTaken(50_000_000)], [true, true])
  quoted = {}
})

t.test('checks the amount of an estimate in the same way', async t => {
  const accountId = await addAccount()
  const isTaken = async (amountCents: number): Promise<boolean> =>
    'data' in
    (await run(estimate, accountId, {
      body: { amountCents, destination: { currency: 'usdc', network: 'base' } },
    }))
  quoted = { minAmountCents: 0, maxAmountCents: null, feeCents: 0 }
  t.same([await isTaken(0), await isTaken(1)], [false, true])
  t.same([await isTaken(100_000_000), await isTaken(100_000_001)], [true, false])
  quoted = { minAmountCents: 100, maxAmountCents: 200, feeCents: 50 }
  t.same([await isTaken(99), await isTaken(100), await isTaken(201)], [false, true, false])
  quoted = {}
})

t.test('estimates for a memo only where the network has one', async t => {
  const accountId = await addAccount()
  const ask = (currency: string, network: string, extraId?: string | null): Promise<OperationResult> =>
    run(estimate, accountId, { body: { amountCents: 1000, destination: { currency, network, extraId } } })
  const XRP = ['XRP', 'Ripple'] as const
  t.match(await ask(...XRP, '7'), {
    data: { estimate: { destinationExtraId: '7', destinationSupportsExtraId: true } },
  })
  t.match(await ask(...XRP, 'x'.repeat(64)), { data: {} })
  t.match(await ask(...XRP, 'x'.repeat(65)), { code: 'invalid_request' })
  t.match(await ask('usdc', 'base', null), {
    data: { estimate: { destinationExtraId: null, destinationSupportsExtraId: false } },
  })
  t.match(await ask('usdc', 'ethereum', '7'), { code: 'invalid_request', field: 'destination.extraId' })
  t.match(await ask('doge', 'base'), { code: 'invalid_request', field: 'destination.currency' })
  const of = (destination: object): Promise<OperationResult> =>
    run(range, accountId, { body: { destination } })
  t.match(await of({ currency: 'XRP', network: 'Ripple' }), {
    data: { range: { destinationSupportsExtraId: true, minAmountCents: 100 } },
  })
  t.match(await of({ currency: 'USDC', network: 'Base' }), {
    data: { range: { destinationSupportsExtraId: false } },
  })
  t.match(await of({ currency: 'doge', network: 'base' }), { field: 'destination.currency' })
})

t.test('whether an address has a memo is a matter of currency and network together', async t => {
  const accountId = await addAccount()
  const hasMemo = async (assets: unknown): Promise<unknown> => {
    const changed = { ...provider, assets: async () => assets as never }
    const services = { ...own, providers: { withdrawals: changed } }
    const range = internals.withdrawalOperations(services).find(({ id }) => id === 'withdrawals.range')!
    const { data } = await run(range, accountId, {
      body: { destination: { currency: 'usdc', network: 'base' } },
    })
    return data!['range'].destinationSupportsExtraId
  }
  const on = (id: string, supportsExtraId: boolean): object => ({ id, supportsExtraId })
  t.equal(await hasMemo([{ ticker: 'usdc', networks: [on('stellar', true), on('base', false)] }]), false)
  t.equal(
    await hasMemo([
      { ticker: 'x', networks: [on('base', true)] },
      { ticker: 'usdc', networks: [on('base', false)] },
    ]),
    false,
  )
  t.equal(await hasMemo([{ ticker: 'usdc', networks: [on('base', true)] }]), true)
  t.equal(await hasMemo([]), false, 'the catalogue has it no more')
})

t.test('checks the destination', async t => {
  const accountId = await addAccount(10_000)
  const to = async (destination: object): Promise<unknown> => {
    const { data, field } = await run(create, accountId, { body: withdrawalBody(100, destination) })
    return data ? (data['withdrawal'] as { destination: unknown }).destination : field
  }
  const MIXED = '0x52908400098527886E0F7030069857D2E4169EE7'
  const USDC = { currency: 'usdc', network: 'base', extraId: null }
  for (const address of [OUTSIDE, MIXED, OUTSIDE.toUpperCase().replace('0X', '0x')])
    t.same(await to({ address }), { ...USDC, address: OUTSIDE })
  const checksummed = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359'
  t.same(await to({ address: checksummed }), { ...USDC, address: checksummed.toLowerCase() })
  for (const address of [
    checksummed.replace('fB', 'Fb'),
    OUTSIDE.slice(0, -1),
    `${OUTSIDE}0`,
    `0x${'0'.repeat(40)}`,
    'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  ])
    t.equal(await to({ address }), 'destination.address', address)
  const bitcoin = { currency: 'btc', network: 'bitcoin' }
  t.equal(await to({ ...bitcoin, address: OUTSIDE }), 'destination.address')
  t.match(await to({ ...bitcoin, address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' }), bitcoin)
  const ripple = { currency: 'xrp', network: 'ripple', address: 'rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe' }
  t.match(await to({ ...ripple, extraId: 'x'.repeat(64) }), { extraId: 'x'.repeat(64) })
  t.match(await to(ripple), { extraId: null })
  t.equal(await to({ extraId: '7' }), 'destination.extraId')
  for (const wrong of [{ currency: 'usdt' }, { network: 'bitcoin' }])
    t.equal(await to(wrong), 'destination.network')
  t.equal(await to({ currency: 'doge' }), 'destination.currency')
  const problem = internals.compileSchema(create.body!)
  const withText = (extra: object): unknown => problem(withdrawalBody(100, extra))
  for (const [name, most] of [
    ['address', 128],
    ['extraId', 64],
  ] as const) {
    t.equal(withText({ [name]: 'x'.repeat(most) }), undefined)
    t.match(withText({ [name]: 'x'.repeat(most + 1) }), { path: ['destination', name] })
  }
})

t.test('takes an address of a network whose rule it does not know', async t => {
  const assets = [
    { ticker: 'ada', networks: [{ id: 'cardano', label: 'Cardano', chainId: null, tokenContract: null }] },
  ] as never
  const sent = { currency: 'ada', network: 'cardano', address: 'anything', extraId: null }
  const check = (destination: typeof sent): unknown =>
    internals.checkDestination({ assets, receivers: [] }, destination)
  t.match(check(sent), { ok: true })
  for (const wrong of [{ currency: 'usdc' }, { network: 'base' }])
    t.match(check({ ...sent, ...wrong }), { ok: false })
})

t.test(
  'sends nothing to an address with a wrong checksum, from which nobody can spend, or of a token',
  async t => {
    const accountId = await addAccount(10_000)
    const receivers = [...own.receivers, { receiver: `0x${'a'.repeat(40)}`, token: `0x${'9'.repeat(40)}` }]
    const operations = internals.withdrawalOperations({ ...own, receivers } as never)
    const of = (surface: string): Operation =>
      operations.find(each => each.id === 'withdrawals.create' && each.surface === surface) as Operation
    const [usdcBase, usdcEthereum] = [
      '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
    ]
    const [base, bitcoin] = [
      { currency: 'usdc', network: 'base' },
      { currency: 'btc', network: 'bitcoin' },
    ]
    const xrp = { currency: 'xrp', network: 'ripple' }
    const refused = [
      [bitcoin, 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdz', 'must be an address of Bitcoin'],
      [bitcoin, '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3', 'must be an address of Bitcoin'],
      [xrp, 'rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYf', 'must be an address of Ripple'],
      [xrp, 'rrrrrrrrrrrrrrrrrrrrrhoLvTp', 'must not be a burn address'],
      [base, `0x${'0'.repeat(36)}dEaD`, 'must not be a burn address'],
      [base, `0x${'0'.repeat(39)}1`, 'must not be a burn address'],
      [base, usdcBase, 'must not be the contract of a token'],
      [base, usdcEthereum, 'must not be the contract of a token'],
      [base, `0x${'9'.repeat(40)}`, 'must not be the contract of a token'],
    ] as const
    for (const [asset, address, problem] of refused) {
      for (const surface of ['user', 'partner']) {
        const made = await run(of(surface), accountId, { body: withdrawalBody(100, { ...asset, address }) })
        t.match(made, { code: 'invalid_request', status: 400, field: 'destination.address' }, address)
        t.match(made, { message: new RegExp(`^destination.address ${problem}`) }, address)
      }
    }
    const old = { amountCents: 100, chainId: 8453, tokenAddress: usdcBase, recipientAddress: usdcBase }
    t.match(
      await run(of('partner'), accountId, { body: old }),
      { field: 'destination.address' },
      'the old form',
    )
    const upper = 'BC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ'
    const { data } = await run(of('user'), accountId, {
      body: withdrawalBody(100, { ...bitcoin, address: upper }),
    })
    t.match(data, { withdrawal: { destination: { address: upper.toLowerCase() } } }, 'upper-case bech32')
  },
)

t.test('refuses the issuer of a token that a catalogue names with more than its address', async t => {
  const issuer = 'GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN'
  const stellar = { id: 'stellar', label: 'Stellar', chainId: null, supportsExtraId: true }
  for (const tokenContract of [issuer, `USDC:${issuer}`, `USDC-${issuer}`, null]) {
    const assets = [{ ticker: 'usdc', networks: [{ ...stellar, tokenContract }] }] as never
    const sent = { currency: 'usdc', network: 'stellar', address: issuer, extraId: null }
    const checked = internals.checkDestination({ assets, receivers: [] }, sent)
    t.equal(checked.ok, tokenContract === null, String(tokenContract))
  }
})

t.test('sends nothing to an address at which this host receives money', async t => {
  const accountId = await addAccount(10_000)
  const field = async (address: string): Promise<unknown> =>
    (await run(create, accountId, { body: withdrawalBody(100, { address }) })).field
  t.equal(await field(`0x${'a'.repeat(40)}`), 'destination.address', 'of a receiver')
  const [deposit, payin, other] = [`0x${'b'.repeat(40)}`, `0x${'c'.repeat(40)}`, `0x${'d'.repeat(40)}`]
  t.equal(await field(deposit), undefined)
  for (const [address, id] of [
    [deposit, 'dep_1'],
    [other, 'dep_2'],
  ] as const)
    await db.transaction(tx => {
      const terms = { currency: 'usdc', network: 'base', amount: null, minAmount: '1', maxAmount: null }
      const opened = { reference: id, depositAddress: address, extraId: null, chainId: 8453 }
      return services.deposits.create(tx, { id, accountId, provider: 'p', ...terms, ...opened }, 1)
    })
  t.equal(await field(deposit), 'destination.address', 'of a deposit')
  t.equal(await field(payin), undefined)
  await rows(
    db,
    "insert into gw_deposit_addresses (chain_id, address, token) values (1, $1, 'a'), (1, $2, 'a')",
    [payin, `0x${'e'.repeat(40)}`],
  )
  t.equal(await field(payin), 'destination.address', 'of a pay-in')
  const several = { ...own, receivers: [...own.receivers, { receiver: `0x${'f'.repeat(40)}` }] } as typeof own
  const [again] = internals.withdrawalOperations(several).filter(each => each.id === create.id)
  const body = withdrawalBody(100, { address: `0x${'a'.repeat(40)}` })
  t.equal((await run(again as Operation, accountId, { body })).field, 'destination.address')
})

t.test('reads the old form of the body', async t => {
  const accountId = await addAccount(10_000)
  const old = {
    amountCents: 1000,
    recipientAddress: OUTSIDE,
    chainId: 8453 as unknown,
    tokenAddress: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  }
  const made = await run(poll, accountId, { body: old })
  t.match(made.data, { destination: { currency: 'usdc', network: 'base', address: OUTSIDE, extraId: null } })
  for (const chainId of ['8453', 'eip155:8453', '0x2105'])
    t.match(await run(poll, accountId, { body: { ...old, chainId } }), {
      data: { id: made.data!['id'], repeated: true },
    })
  t.match(await run(poll, accountId, { body: { ...old, chainId: 'eip155:1' } }), { field: 'tokenAddress' })
  for (const [wrong, field] of [
    [{ ...old, chainId: 1 }, 'tokenAddress'],
    [{ ...old, tokenAddress: OUTSIDE }, 'tokenAddress'],
    [{ ...old, chainId: undefined }, 'chainId'],
    [{ ...old, recipientAddress: undefined }, 'recipientAddress'],
    [{ amountCents: 1000 }, 'destination'],
    [
      { ...old, amountCents: 900, recipientAddress: '0x52908400098527886E0F7030069857D2E4169eE7' },
      'destination.address',
    ],
  ] as const) {
    const body = JSON.parse(JSON.stringify(wrong)) as object
    t.match(await run(poll, accountId, { body }), { field, message: new RegExp(field) }, field)
  }
  const problem = internals.compileSchema(poll.body!)
  for (const [field, least, most] of [
    ['tokenAddress', 'x', 'x'.repeat(128)],
    ['recipientAddress', 'x', 'x'.repeat(128)],
    ['chainId', 1, '9'.repeat(15)],
  ] as const) {
    t.equal(problem({ ...old, [field]: least }), undefined)
    t.equal(problem({ ...old, [field]: most }), undefined)
    t.ok(problem({ ...old, [field]: `${most}x` }), field)
  }
  t.ok(problem({ ...old, chainId: 0 }))
})

t.test(
  'an equal request of a partner polls a withdrawal until 10 minutes after its last pending response',
  async t => {
    const accountId = await addAccount(20_000)
    const post = async (cents = 1000, extra: object = {}, effectId = uniqueName()) =>
      (await run(poll, accountId, { effectId, body: withdrawalBody(cents, extra) })).data!
    const effectId = uniqueName()
    const { id } = await post(1000, {}, effectId)
    t.match(await post(), { id, repeated: true, status: 'pending', state: 'pending' })
    t.match(await post(1000, {}, effectId), { id, repeated: false }, 'the request that made it')
    t.match(await post(1001), { repeated: false })
    t.match(await post(1000, { network: 'ethereum' }), { repeated: false })
    clock.advance(10 * MINUTE_MS - 1)
    t.match(await post(), { id, repeated: true }, 'just before the end')
    clock.advance(10 * MINUTE_MS)
    const next = await post()
    t.not(next['id'], id, 'exactly at the end')
    await report(next['id'] as string, 'ready')
    t.match(await post(), { id: next['id'], repeated: true, status: 'ready', state: 'ready' })
    t.not((await post())['id'], next['id'], 'it was handed over')
  },
)

t.test('a repeat under a lower limit is denied, and a user never polls', async t => {
  const accountId = await addAccount(5000)
  const body = withdrawalBody(1000)
  const { data } = await run(poll, accountId, { body })
  t.match(await run(poll, accountId, { body, policy: { maxAuthAmountCents: 999 } }), {
    code: 'policy_blocked',
  })
  t.not((await run(create, accountId, { body })).data!['withdrawal'].id, data!['id'])
})

t.test('a failed withdrawal is returned once to the poll, with the reason', async t => {
  const accountId = await addAccount(5000)
  const post = (): Promise<OperationResult> => run(poll, accountId, { body: withdrawalBody(1000) })
  const { id } = (await post()).data!
  await report(id as string, 'failed', 'Closed.')
  t.match(await post(), { code: 'invalid_state', message: 'the withdrawal failed: Closed.' })
  const again = await post()
  await report(again.data!['id'] as string, 'failed')
  t.match(await post(), { code: 'invalid_state', message: 'the withdrawal failed: unknown' })
})

t.test('lets at most 20 be under way', async t => {
  const accountId = await addAccount(100_000)
  const make = (n: number): Promise<OperationResult> =>
    run(create, accountId, { body: withdrawalBody(100 + n) })
  for (let n = 0; n < 19; n += 1) await make(n)
  let last = await make(19)
  t.match(await make(20), { code: 'policy_blocked', details: { rule: 'max_withdrawals' } })
  for (const end of ['failed', 'completed']) {
    await report(last.data!['withdrawal'].id as string, end)
    last = await make(20)
    t.match(last, { data: {} })
  }
})

t.test('lists and reads the withdrawals of the account', async t => {
  const accountId = await addAccount(5000)
  const ids: string[] = []
  for (let n = 0; n < 3; n += 1)
    ids.unshift(
      (await run(create, accountId, { body: withdrawalBody(1000) })).data!['withdrawal'].id as string,
    )
  const page = async (query: string): Promise<readonly [string[], string | null]> => {
    const { withdrawals: found, nextCursor } = (await run(list, accountId, { query })).data!
    return [found.map(({ id }: { id: string }) => id), nextCursor]
  }
  const [first, cursor] = await page('limit=2')
  t.same(first, ids.slice(0, 2))
  t.same(await page(`limit=2&cursor=${cursor}`), [ids.slice(2), null])
  t.same(await page('limit=3'), [ids, null], 'no further page')
  t.match(await run(list, accountId, { query: 'limit=0' }), { code: 'invalid_request', field: 'limit' })
  const params = { withdrawalId: ids[0] as string }
  t.match(await run(read, accountId, { params }), { data: { withdrawal: { id: ids[0], relay: null } } })
  t.match(await run(read, await addAccount(), { params }), { code: 'not_found' })
  t.equal((await history(accountId, 'withdrawal', ids[0] as string)).length, 1)
})
