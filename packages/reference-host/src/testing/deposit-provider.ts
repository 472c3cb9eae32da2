import assert from 'node:assert/strict'
import type { TestRunner } from '@gatewright/kernel/testing'
import {
  depositPort,
  depositReport,
  type DepositProvider,
  type OpenDeposit,
} from '../providers/deposits/port.ts'
import { isRejection } from '../providers/reply.ts'
import { catalogueTests } from './catalogue.ts'
import { changesTest } from './changes.ts'
import { assertValid, providerTests, signal, type ProviderUnderTest } from './support.ts'

/** A provider of deposits under test. */
export interface DepositProviderUnderTest extends ProviderUnderTest<DepositProvider> {
  /** Counts the deposits in the test system. */
  deposits(): Promise<number>
  /** Pays a deposit in the test system. Absent if it cannot be paid there. */
  pay?(id: string, opened: OpenDeposit): Promise<void>
}

const newDeposit = { currency: 'usdc', network: 'base', amount: '25' }

/** The contract of `DepositProvider`: run it against every provider. `open` is called once per test. */
export function depositProviderContract(
  runner: TestRunner,
  name: string,
  open: () => Promise<DepositProviderUnderTest>,
): void {
  const test = providerTests(runner, 'dep', open)
  runner.describe(`DepositProvider ${name}`, () => {
    catalogueTests<DepositProvider>(test, (provider, id, within) => provider.open(id, newDeposit, within))

    changesTest<DepositProvider>(test, depositPort.changedSince, (provider, id) =>
      provider.open(id, newDeposit, signal),
    )

    test('opens one deposit for an id that is opened twice, and 20 times at once', async (opened, id) => {
      const { provider, deposits } = opened
      const before = await deposits()
      const first = await provider.open(id, newDeposit, signal)
      assertValid(first, depositPort.open)
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
      assertValid(found, depositReport)
      assert.deepEqual(found?.payments, [])
    })

    test('reports each of two payments to one deposit', async ({ provider, pay }, id) => {
      const opened = await provider.open(id, newDeposit, signal)
      if (!pay) return
      assert.ok(!isRejection(opened))
      await pay(id, opened)
      await pay(id, opened)
      const found = await provider.find(id, signal)
      assertValid(found, depositReport)
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
