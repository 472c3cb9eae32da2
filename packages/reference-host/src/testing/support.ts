import assert from 'node:assert/strict'
import { Fault } from '@gatewright/kernel'
import { openedTests } from '@gatewright/kernel/internal/testing'
import type { TestRunner } from '@gatewright/kernel/testing'
import type { NamedProvider } from '../providers/port.ts'
import type { Reply } from '../providers/reply.ts'

/** A provider and the test system that it calls. */
export interface ProviderUnderTest<Provider> {
  readonly provider: Provider
  /** The same provider with a test system that cannot be reached. */
  readonly down?: Provider
  /** The same provider with a test system that sends malformed replies. */
  readonly malformed?: Provider
  close(): Promise<void>
}

/** Declares a test with a fresh provider and a new id. */
export type DeclareTest<Opened> = (title: string, run: (opened: Opened, id: string) => Promise<void>) => void

/** A signal that never aborts. */
export const signal: AbortSignal = new AbortController().signal

/** Returns a function that declares tests. Their ids have a prefix, as those of the host have. */
export function providerTests<Opened extends { close(): Promise<void> }>(
  runner: TestRunner,
  prefix: string,
  open: () => Promise<Opened>,
): DeclareTest<Opened> {
  const test = openedTests(runner, open)
  return (title, run) => test(title, (opened, key) => run(opened, `${prefix}_${key.replaceAll('-', '')}`))
}

/** The name must fit into a path. */
export function assertName({ name }: NamedProvider): void {
  assert.match(name, /^[a-z0-9-]{1,32}$/)
}

/** The reply must have the form that its port declares. */
export function assertValid(given: unknown, { validate }: Reply<unknown>): void {
  assert.equal(validate(given), undefined)
}

/** A call must throw the right fault when the provider is down, and when it reads nonsense. Its message must not match `personal`. */
export async function assertFaults<Provider>(
  { down, malformed }: Pick<ProviderUnderTest<Provider>, 'down' | 'malformed'>,
  call: (provider: Provider) => Promise<unknown>,
  personal?: RegExp,
): Promise<void> {
  for (const [code, provider] of [
    ['ERR_PROVIDER_UNAVAILABLE', down],
    ['ERR_PROVIDER_REPLY', malformed],
  ] as const) {
    if (!provider) continue
    await assert.rejects(call(provider), error => {
      assert.ok(error instanceof Fault && error.code === code, `must be a Fault ${code}`)
      if (personal) assert.doesNotMatch(error.message, personal)
      return true
    })
  }
}
