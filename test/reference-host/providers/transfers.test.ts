import { Fault } from '@gatewright/kernel'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { collectTests, failingTests, manualClock, type TestRunner } from '@gatewright/kernel/testing'
import type { WithdrawalProvider } from '@gatewright/reference-host'
import type { Catalogue } from '#packages/reference-host/dist/providers/catalogue.js'
import type { DepositProvider } from '#packages/reference-host/dist/providers/deposits/port.js'
import {
  type DepositProviderUnderTest,
  type WithdrawalProviderUnderTest,
  depositProviderContract,
  withdrawalProviderContract,
} from '@gatewright/reference-host/testing'
import t from 'tap'
import * as internals from '../../harness/internals.ts'
import { openSqlite } from '../../harness/stores.ts'

const { PORTS, checkedProvider, migrateHost } = internals
const { formatDecimal, parseDecimal } = internals
const { signal } = new AbortController()
const clock = manualClock()

async function openDatabase() {
  const { connections, close } = await openSqlite(1, db => migrateHost(db))
  const [db] = connections as [SqlClient]
  const known = async (port: string, id = '%'): Promise<number> =>
    (await rows(db, 'select id from gw_sandbox_provider_calls where port = $1 and id like $2', [port, id]))
      .length
  return { db, close, known }
}
async function openDeposits(): Promise<DepositProviderUnderTest> {
  const { db, close, known } = await openDatabase()
  return { provider: PORTS.deposits.sandbox({ db, clock }), deposits: () => known('deposits'), close }
}
async function openWithdrawals(): Promise<WithdrawalProviderUnderTest> {
  const { db, close, known } = await openDatabase()
  return {
    provider: PORTS.withdrawals.sandbox({ db, clock }),
    payouts: id => known('withdrawals', id),
    close,
  }
}
for (const { name, run } of collectTests(runner => depositProviderContract(runner, 'sandbox', openDeposits)))
  void t.test(`the sandbox: ${name}`, run)
for (const { name, run } of collectTests(runner =>
  withdrawalProviderContract(runner, 'sandbox', openWithdrawals),
))
  void t.test(`the sandbox: ${name}`, run)

type Broken =
  | 'twice'
  | 'forgets'
  | 'failsOnTimeout'
  | 'deaf'
  | 'shouts'
  | 'lies'
  | 'merges'
  | 'numbers'
  | 'sells'
  | 'skips'
  | 'ignoresSince'
type Change = Partial<Record<Broken, true>>
const down = async (): Promise<never> => {
  throw new Fault('ERR_PROVIDER_UNAVAILABLE', 'is down')
}
const malformed = async (): Promise<never> => {
  throw new Fault('ERR_PROVIDER_REPLY', 'nonsense')
}

/** Lists what has changed since an instant, two on a page: everything unless the instant is yet to come. */
function changesOf<T>(made: readonly T[], change: Change) {
  return async (since: number, after: string | null): Promise<{ changes: T[]; next: string | null }> => {
    const all = change.ignoresSince || since <= Date.now() ? made : []
    const first = Number(after ?? 0)
    const next = first + 2
    return {
      changes: all.slice(first, next),
      next: next < all.length ? String(change.skips ? next + 1 : next) : null,
    }
  }
}

function catalogueOf({ sells }: Change): Catalogue {
  const network = {
    id: 'base',
    label: 'Base',
    chainId: 8453,
    tokenContract: null,
    decimals: 6,
    supportsExtraId: false,
  }
  return {
    assets: async () => [{ ticker: 'usdc', name: 'USD Coin', icon: null, networks: [network] }],
    quote: async ({ currency }) =>
      currency === 'usdc' || sells
        ? {
            minAmount: '1',
            maxAmount: null,
            minAmountCents: 100,
            maxAmountCents: null,
            toAmount: '1',
            feeCents: 0,
            rateId: null,
            validUntil: null,
          }
        : { rejected: 'No such asset.' },
  }
}

/** A provider of withdrawals in memory, with one thing that `change` breaks. */
function withdrawalsInMemory(change: Change = {}) {
  return async (): Promise<WithdrawalProviderUnderTest> => {
    const paid = new Map<string, number>()
    const report = {
      status: change.lies ? ('sent' as 'ready') : 'ready',
      reason: null,
      txHash: null,
      paidCents: null,
      relay: null,
    }
    const provider: WithdrawalProvider = {
      ...catalogueOf(change),
      name: change.shouts ? 'My Provider!' : 'memory',
      async send(id, _, within) {
        if (!change.deaf) within.throwIfAborted()
        if (change.twice || !paid.has(id)) paid.set(id, (paid.get(id) ?? 0) + 1)
        return report
      },
      find: async id => (paid.has(id) && !change.forgets ? report : undefined),
      changedSince: (since, after) =>
        changesOf(
          [...paid.keys()].map(id => ({ ...report, id, payoutCents: 2450 })),
          change,
        )(since, after),
    }
    const cut: WithdrawalProvider = {
      ...provider,
      async send(...call) {
        await provider.send(...call)
        return change.failsOnTimeout ? { ...report, status: 'failed', reason: 'Time is up.' } : down()
      },
    }
    return {
      provider,
      cut,
      down: { ...provider, send: down },
      malformed: { ...provider, send: malformed },
      payouts: async id => paid.get(id) ?? 0,
      close: async () => {},
    }
  }
}

/** A provider of deposits in memory, with one thing that `change` breaks. */
function depositsInMemory(change: Change = {}) {
  return async (): Promise<DepositProviderUnderTest> => {
    const known = new Map<string, { id: string; creditedCents: number }[]>()
    let opened = 0
    const provider: DepositProvider = {
      ...catalogueOf(change),
      name: change.shouts ? 'My Provider!' : 'memory',
      async open(id, _, within) {
        if (!change.deaf) within.throwIfAborted()
        if (change.twice || !known.has(id)) opened += 1
        if (!known.has(id)) known.set(id, [])
        const depositAddress = change.twice ? `address-${opened}` : `address-of-${id}`
        const limits = { minAmount: change.lies ? 'little' : '1', maxAmount: null }
        return { reference: id, depositAddress, extraId: null, chainId: null, ...limits }
      },
      async find(id) {
        const payments = known.get(id)
        return payments && !change.forgets ? { status: 'processing', payments: [...payments] } : undefined
      },
      changedSince: (since, after) =>
        changesOf(
          [...known].map(([id, payments]) => ({
            id,
            status: 'processing' as const,
            payments,
          })),
          change,
        )(since, after),
    }
    return {
      provider,
      down: { ...provider, open: down },
      malformed: { ...provider, open: malformed },
      deposits: async () => opened,
      close: async () => {},
      async pay(id) {
        const payments = known.get(id) ?? []
        const number = change.merges ? 1 : payments.length + 1
        payments.push({ id: change.numbers ? `${number}` : `${id}-${number}`, creditedCents: 100 })
      },
    }
  }
}

t.test('the contracts pass good providers and catch each broken one', async t => {
  const ofWithdrawals = (change?: Change): Promise<string[]> =>
    failingTests((runner: TestRunner) =>
      withdrawalProviderContract(runner, 'memory', withdrawalsInMemory(change)),
    )
  const ofDeposits = (change?: Change): Promise<string[]> =>
    failingTests((runner: TestRunner) => depositProviderContract(runner, 'memory', depositsInMemory(change)))
  t.same([await ofWithdrawals(), await ofDeposits()], [[], []])
  for (const [broken, expected] of [
    ['twice', /sent twice/],
    ['forgets', /finds what was sent.*then finds what it took/],
    ['failsOnTimeout', /reply is lost/],
    ['deaf', /aborted/],
    ['shouts', /fits into a path/],
    ['lies', /sent twice/],
    ['sells', /rejects others/],
    ['skips', /made since an instant/],
    ['ignoresSince', /made since an instant/],
  ] as const)
    t.match((await ofWithdrawals({ [broken]: true })).join(), expected, broken)
  for (const [broken, expected] of [
    ['twice', /opened twice/],
    ['forgets', /finds what was opened/],
    ['merges', /two payments/],
    ['numbers', /payments to two deposits/],
    ['skips', /made since an instant/],
    ['ignoresSince', /made since an instant/],
    ['deaf', /aborted/],
    ['lies', /opened twice/],
  ] as const)
    t.match((await ofDeposits({ [broken]: true })).join(), expected, broken)
})

t.test('a wrapped provider checks each reply, and counts each call', async t => {
  const counted: string[] = []
  const options = { count: (outcome: string) => counted.push(outcome) }
  const [good, goodDeposits] = [
    (await withdrawalsInMemory()()).provider,
    (await depositsInMemory()()).provider,
  ]
  const wrong = async (): Promise<never> => ({ status: 'ready' }) as never
  const broken = checkedProvider(
    PORTS.withdrawals.port,
    { ...good, assets: wrong, quote: wrong, send: wrong, find: wrong },
    options,
  )
  const brokenDeposits = checkedProvider(
    PORTS.deposits.port,
    { ...goodDeposits, open: wrong, find: wrong },
    options,
  )
  const asset = { currency: 'usdc', network: 'base' }
  const want = { amountCents: 1, feeCents: 0, destination: { ...asset, address: 'a', extraId: null } }
  const calls: (() => Promise<unknown>)[] = [
    () => broken.assets(signal),
    () => broken.quote(asset, signal),
    () => broken.send('wd_1', want, signal),
    () => broken.find('wd_1', signal),
    () => brokenDeposits.open('dep_1', { ...asset, amount: null }, signal),
    () => brokenDeposits.find('dep_1', signal),
  ]
  for (const call of calls) await t.rejects(call(), { code: 'ERR_PROVIDER_REPLY' })
  const limited = checkedProvider(PORTS.withdrawals.port, good, options)
  t.equal(await limited.find('wd_1', signal), undefined, 'nothing found is a reply')
  t.match(await limited.quote({ ...asset, currency: 'eur' }, signal), { rejected: 'No such asset.' })
  t.match(await limited.send('wd_1', want, signal), { status: 'ready' })
  t.match(await limited.assets(signal), [{ ticker: 'usdc' }])
  t.same(counted, [...calls.map(() => 'malformed'), ...Array.from({ length: 4 }, () => 'answered')])
})

t.test('the sandbox quotes fixed prices, and the amount decides what happens to a withdrawal', async t => {
  const { db, close } = await openDatabase()
  t.teardown(close)
  const deposits = PORTS.deposits.sandbox({ db, clock })
  const quote = (currency: string, network: string, amount: string) =>
    deposits.quote({ currency, network, amount }, signal)
  t.match(await quote('usdc', 'base', '12.5'), { minAmount: '1', maxAmount: '50000', toAmount: '12.50' })
  t.match(await quote('btc', 'bitcoin', '0.5'), { minAmount: '0.00001667', toAmount: '30000.00' })
  t.match(await quote('xrp', 'ripple', '3'), { minAmount: '2', maxAmount: '100000', toAmount: '1.50' })
  t.match(await quote('usdt', 'base', '3'), { rejected: String })
  const withdrawals = PORTS.withdrawals.sandbox({ db, clock })
  const out = await withdrawals.quote({ currency: 'btc', network: 'bitcoin', amountCents: 60_050 }, signal)
  t.match(out, { toAmount: '0.01', feeCents: 50, minAmountCents: 100, maxAmountCents: 5_000_000 })

  const destination = { currency: 'usdc', network: 'base', address: 'a', extraId: null }
  const send = (id: string, amountCents: number) =>
    withdrawals.send(id, { amountCents, feeCents: 50, destination }, signal)
  t.match(await send('wd_1', 1000), { status: 'ready' })
  clock.advance(4999)
  t.match(await withdrawals.find('wd_1', signal), { status: 'ready', txHash: null })
  clock.advance(1)
  t.match(await withdrawals.find('wd_1', signal), { status: 'completed', txHash: /^0x/ })
  t.match(await send('wd_2', 1_000_001), { rejected: String })
  t.match(await withdrawals.find('wd_2', signal), { status: 'failed' })
  await t.rejects(send('wd_3', 1_000_003), { code: 'ERR_PROVIDER_UNAVAILABLE' })
  t.match(await withdrawals.find('wd_3', signal), { status: 'completed' })
  await t.rejects(send('wd_4', 1_000_004), { code: 'ERR_PROVIDER_UNAVAILABLE' })
  t.equal(await withdrawals.find('wd_4', signal), undefined)
  t.match(await send('wd_4', 1_000_004), { status: 'ready' })
})

t.test('reads and writes decimals', async t => {
  for (const text of ['0', '1', '0.000000000000000001', '999999999999999999.5', '10.01'])
    t.equal(formatDecimal(parseDecimal(text)), text)
  t.equal(parseDecimal('1.50'), parseDecimal('1.5'))
})
