import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose'
import type { GatewrightOptions } from '../options.ts'
import type { TestSession } from './session.ts'
import { tokenForm } from './token-form.ts'

/** A key that signs tokens, with its public half. */
interface SigningKey {
  readonly privateKey: CryptoKey
  readonly jwk: JWK
}

/** Makes a key that never leaves the process. */
export async function signingKey(kid: string): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' } }
}

/** Signs an access token of a session, issued now, in the form that a server with these options reads. */
export function signToken(
  { privateKey, jwk: { kid = '' } }: SigningKey,
  session: TestSession,
  {
    issuer,
    audience,
    provider,
    guard,
  }: Pick<GatewrightOptions, 'issuer' | 'audience' | 'provider' | 'guard'>,
  now: number,
): Promise<string> {
  const form = tokenForm(provider)
  const typ = guard?.typ ?? guard?.readSession?.types?.[0] ?? form.typ
  const iat = Math.floor(now / 1000)
  const claims = {
    iss: issuer,
    sub: session.accountId,
    jti: crypto.randomUUID(),
    iat,
    exp: iat + session.lifetimeSeconds,
    ...form.claims(session, audience),
    ...session.claims,
  }
  return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid, typ }).sign(privateKey)
}
