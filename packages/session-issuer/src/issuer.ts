import type { Session, Surface, Verdict } from '@gatewright/kernel'
import type { JWK } from 'jose'
import { createAuthenticator } from './authenticate.ts'
import type { IssuerDenial } from './codes.ts'
import { createKeyMaker, type CreatedKey, type KeyRequest } from './create-key.ts'
import { createSessionIssuer, type IssuedSession, type SessionRequest } from './issue-session.ts'
import { checkedOptions, type IssuerOptions } from './options.ts'
import { createPeppers } from './peppers.ts'
import { createKeyRing } from './signing/ring.ts'
import { timingOf } from './signing/schedule.ts'
import { policyReader } from './policies.ts'
import { MAX_TTL_SECONDS } from './bounds.ts'
import type { ApiKey } from './storage/port.ts'

/** The JWKS document (RFC 7517) is `{ keys }`; serve it with `headers`. */
export interface PublishedKeys {
  readonly keys: readonly JWK[]
  /** What a verifier may cache the document for. Rotation counts on nobody keeping it longer. */
  readonly maxAgeSeconds: number
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** API keys, sessions and signing keys of one issuer. Every verb can throw a `Fault` when a store is down. */
export interface Issuer {
  /** Makes a key; its text is shown once and stored only as a keyed digest. */
  createKey(request: KeyRequest): Promise<Verdict<CreatedKey, IssuerDenial>>
  /** Is this text a live key of this surface? Junk is refused with no storage call. */
  authenticateKey(text: unknown, surface: Surface): Promise<Verdict<ApiKey, IssuerDenial>>
  /** Exchanges a key, or a session, for a new session that is at most as wide. */
  issueSession(by: ApiKey | Session, request?: SessionRequest): Promise<Verdict<IssuedSession, IssuerDenial>>
  /** Policy documents in the order of their ids. Fault `ERR_STORE_REPLY` when one is missing: it must not pass. */
  policies(ids: readonly string[]): Promise<readonly unknown[]>
  /** The public keys, and how to publish them. Never older than the refresh interval. */
  jwks(): Promise<PublishedKeys>
  /** The public key of a `kid` for guards in this process, or undefined. Never older than the refresh interval. */
  verificationKey(kid: string): Promise<JWK | undefined>
  /** Writes the uses of keys gathered so far. Call it before the process ends. */
  flush(): Promise<void>
}

/** Makes an issuer. Throws a `TypeError` for bad options. */
export function createIssuer(given: IssuerOptions): Issuer {
  const options = checkedOptions(given)
  const {
    clock,
    jwksMaxAgeSeconds: maxAgeSeconds,
    signingKeyRefreshMs: refreshMs,
    clockSkewMs: skewMs,
  } = options
  const peppers = createPeppers(options.peppers)
  const ring = createKeyRing({
    storage: options.signingKeys,
    algorithm: options.algorithm,
    clock,
    refreshMs,
    timing: timingOf({
      ...{ refreshMs, maxAgeSeconds, skewMs },
      maxTtlSeconds: MAX_TTL_SECONDS,
    }),
  })
  const authenticator = createAuthenticator(options, peppers)
  return {
    createKey: createKeyMaker(options, peppers),
    authenticateKey: authenticator.authenticateKey,
    issueSession: createSessionIssuer(options, ring),
    policies: policyReader(options),
    jwks: async () => ({
      keys: await ring.publicKeys(),
      maxAgeSeconds,
      headers: [
        ['content-type', 'application/jwk-set+json'],
        ['cache-control', `public, max-age=${maxAgeSeconds}`],
      ],
    }),
    verificationKey: ring.publicKey,
    flush: authenticator.flush,
  }
}
