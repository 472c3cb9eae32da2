import assert from 'node:assert/strict'
import type { TestRunner } from '@gatewright/kernel/testing'
import { kycPort, type KycApplication, type KycProvider } from '../providers/kyc/port.ts'
import {
  assertFaults,
  assertName,
  assertValid,
  providerTests,
  signal,
  type ProviderUnderTest,
} from './support.ts'

/** A provider of identity checks under test. */
export interface KycProviderUnderTest extends ProviderUnderTest<KycProvider> {
  /** Counts the applications in the test system. */
  applications(): Promise<number>
}

/** An application with invented personal data. */
export const sampleApplication: KycApplication = {
  firstName: 'Ada',
  lastName: 'Sample',
  birthDate: '1990-01-31',
  countryOfIssue: 'US',
  email: 'ada@example.com',
  address: {
    line1: '1 Main Street',
    line2: null,
    city: 'Springfield',
    region: 'IL',
    postalCode: '62701',
    countryCode: 'US',
  },
  occupation: 'employee',
  annualSalary: '50000-75000',
  accountPurpose: 'testing',
  expectedMonthlyVolume: '0-1000',
  nationalId: '123-45-6789',
  phone: null,
}

/** The contract of `KycProvider`: run it against every provider. `open` is called once per test. */
export function kycProviderContract(
  runner: TestRunner,
  name: string,
  open: () => Promise<KycProviderUnderTest>,
): void {
  const test = providerTests(runner, 'kyc', open)
  runner.describe(`KycProvider ${name}`, () => {
    test('has a name that fits into a path', async ({ provider }) => assertName(provider))

    test('makes one application of an id that is submitted twice, also with other fields', async (opened, id) => {
      const { provider, applications } = opened
      const before = await applications()
      const first = await provider.submit(id, sampleApplication, signal)
      assertValid(first, kycPort.submit)
      const dropped = { ...sampleApplication, nationalId: null }
      const second = await provider.submit(id, dropped, signal)
      assertValid(second, kycPort.submit)
      assert.ok((second.version ?? 0) >= (first.version ?? 0), 'the version never falls')
      assert.equal(await applications(), before + 1)
    })

    test('makes one application of an id that is submitted 20 times at once', async (opened, id) => {
      const { provider, applications } = opened
      const before = await applications()
      const all = Array.from({ length: 20 }, () => provider.submit(id, sampleApplication, signal))
      await Promise.all(all)
      assert.equal(await applications(), before + 1)
    })

    test('makes another application of another id', async ({ provider, applications }, id) => {
      const before = await applications()
      await provider.submit(id, sampleApplication, signal)
      await provider.submit(`${id}2`, sampleApplication, signal)
      assert.equal(await applications(), before + 2)
    })

    test('rejects when its signal is aborted', async ({ provider }, id) => {
      await assert.rejects(provider.submit(id, sampleApplication, AbortSignal.abort()))
    })

    test('throws a fault that holds nothing of the application, when it is down or reads nonsense', (opened, id) =>
      assertFaults(opened, provider => provider.submit(id, sampleApplication, signal), /Sample|6789/))
  })
}
