import assert from 'node:assert/strict'
import { catalogueMethods, type Catalogue } from '../providers/catalogue.ts'
import type { NamedProvider } from '../providers/port.ts'
import { isRejection } from '../providers/reply.ts'
import {
  assertFaults,
  assertName,
  assertValid,
  signal,
  type DeclareTest,
  type ProviderUnderTest,
} from './support.ts'

/** Declares the tests of what the ports of deposits and withdrawals share. */
export function catalogueTests<Provider extends Catalogue & NamedProvider>(
  test: DeclareTest<ProviderUnderTest<Provider>>,
  call: (provider: Provider, id: string, signal: AbortSignal) => Promise<unknown>,
): void {
  test('has a name that fits into a path', async ({ provider }) => assertName(provider))

  test('quotes each of its assets, and rejects others', async ({ provider }) => {
    const assets = await provider.assets(signal)
    assertValid(assets, catalogueMethods.assets)
    for (const { ticker, networks } of assets) {
      for (const { id } of networks) {
        const quote = await provider.quote({ currency: ticker, network: id }, signal)
        assertValid(quote, catalogueMethods.quote)
        assert.ok(!isRejection(quote), `${ticker} on ${id} is rejected`)
      }
    }
    assert.ok(isRejection(await provider.quote({ currency: 'no-asset', network: 'none' }, signal)))
  })

  test('rejects when its signal is aborted', async ({ provider }, id) => {
    await assert.rejects(call(provider, id, AbortSignal.abort()))
  })

  test('throws a fault when it is down or reads nonsense', (opened, id) =>
    assertFaults(opened, provider => call(provider, id, signal)))
}
