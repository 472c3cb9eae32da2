import { checkOptions } from '@gatewright/kernel/internal'
import { manualClock, type ManualClock } from '@gatewright/kernel/testing'
import { localKeys, type KeySource, type LimitOptions } from '@gatewright/scope-guard'
import type { GatewrightOptions } from '../options.ts'
import { memoryStore } from '../stores/memory.ts'
import type { Store } from '../stores/store.ts'
import { testSession, type TestSession } from './session.ts'
import { signToken, signingKey } from './signing-key.ts'

/** The options of your server that `testGateway` reads. */
export type TestedOptions = Omit<GatewrightOptions, 'store'> & Partial<Pick<GatewrightOptions, 'store'>>

/** What a test replaces, beside the keys of the issuer. */
export interface TestGatewayOptions {
  /** Default: a new clock that starts at 2026-01-01T00:00:00Z and is moved by the test. */
  readonly clock?: ManualClock
  /** Default: a new `memoryStore()`. */
  readonly store?: Store
}

/** Your options, with the state and the issuer of a test. */
export interface TestGateway<Options> {
  /** Give them to `gatewright` instead of your options. */
  readonly options: Options & {
    readonly store: Store
    readonly clock: ManualClock
    readonly guard: { readonly keys: KeySource }
  }
  readonly clock: ManualClock
  readonly store: Store
  /** Signs an access token of a session, in the form of your `provider`, issued at the time of `clock`. */
  token(session: TestSession): Promise<string>
}

/**
 * Returns your options for a test: with a store in memory, a clock that the test moves, and the public key of an issuer in this process
 * instead of the keys of your identity provider. Nothing is switched off: tokens are signed and verified as in production, and
 * those of any other issuer, also of another `testGateway`, are denied. Throws a `TypeError` under `NODE_ENV=production`.
 */
export function testGateway<const Options extends TestedOptions>(
  options: Options,
  replaced: TestGatewayOptions = {},
): TestGateway<Options> {
  if (process.env['NODE_ENV'] === 'production')
    throw new TypeError(
      'testGateway: it is for tests, and NODE_ENV is production: give gatewright the options of your server',
    )
  // Test runners run files side by side, each with a memory of its own.
  const { clock = manualClock(), store = memoryStore({ perProcess: true }) } = checkOptions(
    'testGateway',
    replaced,
    {
      clock: true,
      store: true,
    },
  )
  const key = signingKey('test')
  // A failure is reported where the key is used.
  key.catch(() => undefined)
  const keys = localKeys(async () => ({ keys: [(await key).jwk] }))
  return {
    options: {
      ...options,
      ...(options.limits ? { limits: options.limits.map(inProcess) } : {}),
      store,
      clock,
      guard: { ...options.guard, keys },
    },
    clock,
    store,
    token: async session => signToken(await key, testSession(session), options, clock.now()),
  }
}

/** Returns a rate limit that counts in the process. */
function inProcess(limit: LimitOptions): LimitOptions {
  const { store, ...rest } = limit
  return store ? rest : limit
}
