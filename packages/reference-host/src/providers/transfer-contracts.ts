import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Fault } from '@gatewright/kernel'
import type { TestRunner } from '@gatewright/kernel/testing'
import { validateAssets, validateQuoteReply, type Catalogue } from './catalogue.ts'
import { isRejection } from './rejection.ts'
import {
  validateDepositReport,
  validateOpenReply,
  type DepositProvider,
  type OpenDeposit,
} from './deposits.ts'
import { validateSendReply, validateWithdrawalReport, type WithdrawalProvider } from './withdrawals.ts'

/** A provider, and the test system that it calls. */
interface ProviderUnderTest<Provider> {
  readonly provider: Provider
  /** The same provider with a test system that cannot be reached. */
  readonly down?: Provider
  /** The same provider with a test system that sends malformed replies. */
  readonly malformed?: Provider
  close(): Promise<void>
}

/** A provider of deposits under test. */
export interface DepositProviderUnderTest extends ProviderUnderTest<DepositProvider> {
  /** Counts the deposits in the test system. */
  deposits(): Promise<number>
  /** Pays a deposit in the test system. Absent if it cannot be paid there. */
  pay?(id: string, opened: OpenDeposit): Promise<void>
}

/** A provider of withdrawals under test. */
export interface WithdrawalProviderUnderTest extends ProviderUnderTest<WithdrawalProvider> {
  /** Counts how often the test system has paid out for an id. */
  payouts(id: string): Promise<number>
  /** The same provider with a connection that is cut after the test system took a call, before it replies. */
  readonly cut?: WithdrawalProvider
}

type Run<Opened> = (opened: Opened, id: string) => Promise<void>

const { signal } = new AbortController()
const asset = { currency: 'usdc', network: 'base' }
const newDeposit = { ...asset, amount: '25' }
const newWithdrawal = {
  amountCents: 2500,
  feeCents: 50,
  destination: { ...asset, address: '0x52908400098527886e0f7030069857d2e4169ee7', extraId: null },
}

/** Declares a test with a fresh provider and a new id. */
function declare<Opened extends ProviderUnderTest<unknown>>(
  { it }: TestRunner,
  prefix: string,
  open: () => Promise<Opened>,
): (title: string, run: Run<Opened>) => void {
  return (title, run) =>
    it(title, async () => {
      const opened = await open()
      await run(opened, `${prefix}_${randomUUID().replaceAll('-', '')}`).finally(() => opened.close())
    })
}

/** What both ports promise. */
function testCatalogue<Provider extends Catalogue & { readonly name: string }>(
  test: (title: string, run: Run<ProviderUnderTest<Provider>>) => void,
  call: (provider: Provider, id: string, signal: AbortSignal) => Promise<unknown>,
): void {
  test('has a name that fits into a path', async ({ provider }) => {
    assert.match(provider.name, /^[a-z0-9-]{1,32}$/)
  })
  test('quotes each of its assets, and rejects others', async ({ provider }) => {
    const assets = await provider.assets(signal)
    assert.equal(validateAssets(assets), undefined)
    for (const { ticker, networks } of assets) {
      for (const { id } of networks) {
        const quote = await provider.quote({ currency: ticker, network: id }, signal)
        assert.equal(validateQuoteReply(quote), undefined)
        assert.ok(!isRejection(quote), `${ticker} on ${id} is rejected`)
      }
    }
    assert.ok(isRejection(await provider.quote({ currency: 'no-asset', network: 'none' }, signal)))
  })
  test('rejects when its signal is aborted', async ({ provider }, id) => {
    await assert.rejects(call(provider, id, AbortSignal.abort()))
  })
  test('throws a fault when it is down or reads nonsense', async ({ down, malformed }, id) => {
    for (const [code, provider] of [
      ['ERR_PROVIDER_UNAVAILABLE', down],
      ['ERR_PROVIDER_REPLY', malformed],
    ] as const) {
      if (!provider) continue
      await assert.rejects(
        call(provider, id, signal),
        error => error instanceof Fault && error.code === code,
        `must be a Fault ${code}`,
      )
    }
  })
}

/** The contract of `DepositProvider`: run it against every provider. `open` is called once per test. */
export function depositProviderContract(
  runner: TestRunner,
  name: string,
  open: () => Promise<DepositProviderUnderTest>,
): void {
  const test = declare(runner, 'dep', open)
  runner.describe(`DepositProvider ${name}`, () => {
    testCatalogue<DepositProvider>(test, (provider, id, within) => provider.open(id, newDeposit, within))

    test('opens one deposit for an id that is opened twice, and 20 times at once', async (opened, id) => {
      const { provider, deposits } = opened
      const before = await deposits()
      const first = await provider.open(id, newDeposit, signal)
      assert.equal(validateOpenReply(first), undefined)
      const again = Array.from({ length: 20 }, () => provider.open(id, newDeposit, signal))
      for (const each of await Promise.all(again)) assert.deepEqual(each, first)
      assert.equal(await deposits(), before + 1)
      await provider.open(`${id}2`, newDeposit, signal)
      assert.equal(await deposits(), before + 2)
    })

    test('finds what was opened, and nothing else', async ({ provider }, id) => {
      assert.equal(await provider.find(id, signal), undefined)
      await provider.open(id, newDeposit, signal)
      const found = await provider.find(id, signal)
      assert.equal(validateDepositReport(found), undefined)
      assert.deepEqual(found?.payments, [])
    })

    test('reports each of two payments to one deposit', async ({ provider, pay }, id) => {
      const opened = await provider.open(id, newDeposit, signal)
      if (!pay) return
      assert.ok(!isRejection(opened))
      await pay(id, opened)
      await pay(id, opened)
      const found = await provider.find(id, signal)
      assert.equal(validateDepositReport(found), undefined)
      assert.equal(new Set(found?.payments.map(each => each.id)).size, 2)
    })

    test('reports payments to two deposits with two ids', async ({ provider, pay }, id) => {
      if (!pay) return
      const paymentIds: (string | undefined)[] = []
      for (const each of [id, `${id}2`]) {
        const opened = await provider.open(each, newDeposit, signal)
        assert.ok(!isRejection(opened))
        await pay(each, opened)
        paymentIds.push((await provider.find(each, signal))?.payments[0]?.id)
      }
      assert.ok(paymentIds[0] !== undefined && paymentIds[1] !== undefined, 'each deposit has its payment')
      assert.notEqual(paymentIds[0], paymentIds[1])
    })
  })
}

/** The contract of `WithdrawalProvider`: run it against every provider. `open` is called once per test. */
export function withdrawalProviderContract(
  runner: TestRunner,
  name: string,
  open: () => Promise<WithdrawalProviderUnderTest>,
): void {
  const test = declare(runner, 'wd', open)
  runner.describe(`WithdrawalProvider ${name}`, () => {
    testCatalogue<WithdrawalProvider>(test, (provider, id, within) =>
      provider.send(id, newWithdrawal, within),
    )

    test('pays an id once that is sent twice, and 20 times at once', async ({ provider, payouts }, id) => {
      assert.equal(validateSendReply(await provider.send(id, newWithdrawal, signal)), undefined)
      await provider.send(id, newWithdrawal, signal)
      const other = `${id}2`
      await Promise.all(Array.from({ length: 20 }, () => provider.send(other, newWithdrawal, signal)))
      assert.deepEqual([await payouts(id), await payouts(other)], [1, 1])
    })

    test('finds what was sent, and nothing else', async ({ provider }, id) => {
      assert.equal(await provider.find(id, signal), undefined)
      await provider.send(id, newWithdrawal, signal)
      assert.equal(validateWithdrawalReport(await provider.find(id, signal)), undefined)
      assert.equal(await provider.find(`${id}2`, signal), undefined)
    })

    test('throws when the reply is lost, and then finds what it took', async opened => {
      const { provider, cut, payouts } = opened
      if (!cut) return
      const id = `wd_${randomUUID().replaceAll('-', '')}`
      await assert.rejects(
        cut.send(id, newWithdrawal, signal),
        Fault,
        'a lost reply is a fault, not a failed withdrawal',
      )
      const found = await provider.find(id, signal)
      assert.equal(validateWithdrawalReport(found), undefined)
      assert.notEqual(found?.status, 'failed')
      await provider.send(id, newWithdrawal, signal)
      assert.equal(await payouts(id), 1)
    })
  })
}
