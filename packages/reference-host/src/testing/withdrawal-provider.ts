import assert from 'node:assert/strict'
import { Fault } from '@gatewright/kernel'
import type { TestRunner } from '@gatewright/kernel/testing'
import { withdrawalPort, withdrawalReport, type WithdrawalProvider } from '../providers/withdrawals/port.ts'
import { catalogueTests } from './catalogue.ts'
import { changesTest } from './changes.ts'
import { assertValid, providerTests, signal, type ProviderUnderTest } from './support.ts'

/** A provider of withdrawals under test. */
export interface WithdrawalProviderUnderTest extends ProviderUnderTest<WithdrawalProvider> {
  /** Counts how often the test system has paid out for an id. */
  payouts(id: string): Promise<number>
  /** The same provider with a connection that is cut after the test system took a call, before it replies. */
  readonly cut?: WithdrawalProvider
}

const newWithdrawal = {
  amountCents: 2500,
  feeCents: 50,
  destination: {
    currency: 'usdc',
    network: 'base',
    address: '0x52908400098527886e0f7030069857d2e4169ee7',
    extraId: null,
  },
}

/** The contract of `WithdrawalProvider`: run it against every provider. `open` is called once per test. */
export function withdrawalProviderContract(
  runner: TestRunner,
  name: string,
  open: () => Promise<WithdrawalProviderUnderTest>,
): void {
  const test = providerTests(runner, 'wd', open)
  runner.describe(`WithdrawalProvider ${name}`, () => {
    catalogueTests<WithdrawalProvider>(test, (provider, id, within) =>
      provider.send(id, newWithdrawal, within),
    )

    changesTest<WithdrawalProvider>(test, withdrawalPort.changedSince, (provider, id) =>
      provider.send(id, newWithdrawal, signal),
    )

    test('pays an id once that is sent twice, and 20 times at once', async ({ provider, payouts }, id) => {
      assertValid(await provider.send(id, newWithdrawal, signal), withdrawalPort.send)
      await provider.send(id, newWithdrawal, signal)
      const other = `${id}2`
      await Promise.all(Array.from({ length: 20 }, () => provider.send(other, newWithdrawal, signal)))
      assert.deepEqual([await payouts(id), await payouts(other)], [1, 1])
    })

    test('finds what was sent, and nothing else', async ({ provider }, id) => {
      assert.equal(await provider.find(id, signal), undefined)
      await provider.send(id, newWithdrawal, signal)
      assertValid(await provider.find(id, signal), withdrawalReport)
      assert.equal(await provider.find(`${id}2`, signal), undefined)
    })

    test('throws when the reply is lost, and then finds what it took', async (opened, id) => {
      const { provider, cut, payouts } = opened
      if (!cut) return
      await assert.rejects(
        cut.send(id, newWithdrawal, signal),
        Fault,
        'a lost reply is a fault, not a failed withdrawal',
      )
      const found = await provider.find(id, signal)
      assertValid(found, withdrawalReport)
      assert.notEqual(found?.status, 'failed')
      await provider.send(id, newWithdrawal, signal)
      assert.equal(await payouts(id), 1)
    })
  })
}
