import { toClaims, type Session } from '@gatewright/kernel'
import { manualClock, type ManualClock } from '@gatewright/kernel/testing'
import { createGuard, localKeys, type Guard, type GuardOptions } from '@gatewright/scope-guard'
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose'

export const ISSUER = 'https://issuer.test'
export const AUDIENCE = 'https://api.test'

/** A signing key with its published half. */
export interface SigningKey {
  readonly privateKey: CryptoKey
  readonly jwk: JWK
}

/** Generates a key pair and gives the public half an id and, unless the options differ, its algorithm. */
export async function signingKey(
  alg = 'EdDSA',
  kid = `kid-${alg}`,
  named: boolean = true,
): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  const jwk = { ...(await exportJWK(publicKey)), kid, use: 'sig', ...(named ? { alg } : {}) }
  return { privateKey, jwk }
}

/** A session that is good for 15 minutes from `now`. */
export function session(now: number, changes: Partial<Session> = {}): Session {
  return {
    sessionId: 'ses_1',
    accountId: 'acc_1',
    userId: 'usr_1',
    walletAddress: '0x00000000000000000000000000000000000000aa',
    surface: 'user',
    keyId: 'key_1',
    keyVersion: 1,
    policyIds: [],
    scopes: ['cards.read', 'cards.write'],
    issuedAt: now,
    expiresAt: now + 900_000,
    ...changes,
  }
}

/** The claims of our own tokens. */
export function claims(of: Session): JWTPayload {
  return { ...toClaims(of), iss: ISSUER, aud: AUDIENCE }
}

/** Signs claims; `header` is merged over the usual one. */
export async function sign(
  key: SigningKey,
  payload: JWTPayload,
  header: Record<string, unknown> = {},
): Promise<string> {
  const alg = (header['alg'] as string | undefined) ?? key.jwk.alg ?? 'EdDSA'
  return new SignJWT(payload)
    .setProtectedHeader({ typ: 'at+jwt', kid: key.jwk.kid as string, ...header, alg })
    .sign(key.privateKey)
}

/** A guard with one signing key and a manual clock, and what is needed to send it tokens. */
export interface Bench {
  readonly guard: Guard
  readonly clock: ManualClock
  readonly key: SigningKey
  /** Signs a session as our issuer would and returns the `Authorization` field. */
  bearer(changes?: Partial<Session>): Promise<string>
}

export async function bench(options: Partial<GuardOptions> = {}): Promise<Bench> {
  const clock = manualClock()
  const key = await signingKey()
  const guard = createGuard({
    issuer: ISSUER,
    audience: AUDIENCE,
    keys: localKeys({ keys: [key.jwk] }),
    limits: [],
    clock,
    ...options,
  })
  return {
    guard,
    clock,
    key,
    bearer: async changes => `Bearer ${await sign(key, claims(session(clock.now(), changes)))}`,
  }
}

/** The value of a header field among a verdict's fields. */
export function field(headers: readonly (readonly [string, string])[], name: string): string | undefined {
  return headers.find(([held]) => held.toLowerCase() === name.toLowerCase())?.[1]
}
