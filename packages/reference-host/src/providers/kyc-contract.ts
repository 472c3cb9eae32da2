import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Fault } from '@gatewright/kernel'
import type { TestRunner } from '@gatewright/kernel/testing'
import { validateKycReport, type KycApplication, type KycProvider } from './kyc.ts'

/** A provider and the test system that it calls. */
export interface KycProviderUnderTest {
  readonly provider: KycProvider
  /** Counts the applications in the test system. */
  applications(): Promise<number>
  /** The same provider with a test system that cannot be reached. */
  readonly down?: KycProvider
  /** The same provider with a test system that sends malformed replies. */
  readonly malformed?: KycProvider
  close(): Promise<void>
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
  { describe, it }: TestRunner,
  name: string,
  open: () => Promise<KycProviderUnderTest>,
): void {
  const test = (title: string, run: (opened: KycProviderUnderTest, id: string) => Promise<void>): void =>
    it(title, async () => {
      const opened = await open()
      await run(opened, `kyc_${randomUUID().replaceAll('-', '')}`).finally(() => opened.close())
    })
  const { signal } = new AbortController()

  describe(`KycProvider ${name}`, () => {
    test('has a name that fits into a path', async ({ provider }) => {
      assert.match(provider.name, /^[a-z0-9-]{1,32}$/)
    })

    test('makes one application of an id that is submitted twice, also with other fields', async (opened, id) => {
      const { provider, applications } = opened
      const before = await applications()
      const first = await provider.submit(id, sampleApplication, signal)
      assert.equal(validateKycReport(first), undefined)
      const dropped = { ...sampleApplication, nationalId: null }
      const second = await provider.submit(id, dropped, signal)
      assert.equal(validateKycReport(second), undefined)
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

    test('throws a fault that holds nothing of the application, when it is down or reads nonsense', async (opened, id) => {
      for (const [code, provider] of [
        ['ERR_PROVIDER_UNAVAILABLE', opened.down],
        ['ERR_PROVIDER_REPLY', opened.malformed],
      ] as const) {
        await assert.rejects(provider?.submit(id, sampleApplication, signal) ?? notTested(code), error => {
          assert.ok(error instanceof Fault && error.code === code, `must be a Fault ${code}`)
          assert.ok(!error.message.includes('Sample') && !error.message.includes('6789'))
          return true
        })
      }
    })
  })
}

/** Replaces an absent `down` or `malformed`, so that their part of the contract passes. */
async function notTested(code: Fault['code']): Promise<never> {
  throw new Fault(code, 'not tested')
}
