import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { manualClock, type ManualClock } from '@gatewright/kernel/testing'
import { localKeys, type LimitOptions } from '@gatewright/scope-guard'
import type { Store } from 'gatewright'
import { memoryStore } from 'gatewright/memory'
import { AUDIENCE, ISSUER, sign, signingKey } from '../scope-guard/issuer.ts'

/** A payment processor that pays once for each idempotency key, and notes what it was asked for. */
export interface Processor {
  readonly calls: { readonly amountCents: number; readonly idempotencyKey: string }[]
  pay(amountCents: number, idempotencyKey: string): Promise<'paid' | 'declined'>
}

/** What a server under test needs, and what its tests look at. */
export interface World {
  /** Options of `gatewright`, for every framework. */
  readonly options: {
    readonly issuer: string
    readonly audience: string
    readonly provider: 'auth0'
    readonly scopes: readonly ['payments.read', 'payments.write']
    readonly limits?: readonly LimitOptions[]
    readonly policy: { readonly dailySpendCapCents: number }
    readonly store: Store
    readonly clock: ManualClock
    readonly guard: { readonly keys: ReturnType<typeof localKeys>; readonly storeTimeoutMs?: number }
  }
  readonly processor: Processor
  /** Makes an access token of Auth0. `more`: further claims. */
  token(scope: string, account?: string, more?: object): Promise<string>
}

/** The largest amount that the processor pays. */
export const LARGEST_PAID = 5000
/** What each account may spend a day. */
export const CAP = 10_000

const key = await signingKey('RS256')

/** Makes a world whose state is in `store`. */
export function createWorld(store: Store = memoryStore({ perProcess: true })): World {
  const clock = manualClock()
  const calls: Processor['calls'] = []
  return {
    options: {
      issuer: ISSUER,
      audience: AUDIENCE,
      provider: 'auth0',
      scopes: ['payments.read', 'payments.write'],
      policy: { dailySpendCapCents: CAP },
      store,
      clock,
      guard: { keys: localKeys({ keys: [key.jwk] }) },
    },
    processor: {
      calls,
      async pay(amountCents, idempotencyKey) {
        calls.push({ amountCents, idempotencyKey })
        return amountCents > LARGEST_PAID ? 'declined' : 'paid'
      },
    },
    token(scope, account = 'auth0|ann', more = {}) {
      const iat = Math.floor(clock.now() / 1000)
      const claims = { iss: ISSUER, aud: AUDIENCE, sub: account, azp: 'shop', scope, iat, exp: iat + 900 }
      return sign(key, { ...claims, ...more }, { typ: 'JWT' })
    },
  }
}

/** A server under test. */
export interface Listening {
  readonly url: string
  close(): Promise<unknown>
}

/** Waits until a server listens. */
export async function listening(server: Server): Promise<Listening> {
  if (!server.listening) await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
