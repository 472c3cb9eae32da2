import { SESSION_TOKEN_TYPE, toClaims, type Session } from '@gatewright/kernel'
import { localKeys, type KeySource } from '@gatewright/scope-guard'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

export const ISSUER = 'https://issuer.example'
export const AUDIENCE = 'https://api.example'

/** Replaces the issuer of your sessions (session-issuer, the reference host, or another one). */
export interface DemoIssuer {
  readonly keys: KeySource
  /** A session token with these scopes, good for 15 minutes. */
  token(scopes: readonly string[]): Promise<string>
}

/** Makes an issuer whose key lives as long as the process. */
export async function demoIssuer(): Promise<DemoIssuer> {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'demo', alg: 'EdDSA', use: 'sig' }
  return {
    keys: localKeys({ keys: [jwk] }),
    token(scopes) {
      const now = Math.floor(Date.now() / 1000) * 1000
      const session: Session = {
        sessionId: 'ses_demo',
        accountId: 'acc_demo',
        userId: 'usr_demo',
        walletAddress: null,
        surface: 'user',
        keyId: 'key_demo',
        keyVersion: 1,
        policyIds: [],
        scopes,
        issuedAt: now,
        expiresAt: now + 900_000,
      }
      return new SignJWT({ ...toClaims(session), iss: ISSUER, aud: AUDIENCE })
        .setProtectedHeader({ alg: 'EdDSA', kid: 'demo', typ: SESSION_TOKEN_TYPE })
        .sign(privateKey)
    },
  }
}
