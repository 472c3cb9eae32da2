import { toClaims, type Session } from '@gatewright/kernel'
import { exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose'

export const BENCH_ISSUER = 'https://issuer.bench'
export const BENCH_AUDIENCE = 'https://api.bench'

/** A session that outlives every bench, with two policies in its chain. */
export function benchSession(
  index: number,
  policyIds: readonly string[] = ['pol_root', 'pol_leaf'],
): Session {
  const now = Math.floor(Date.now() / 1000) * 1000
  return {
    sessionId: `ses_${index}`,
    accountId: `acc_${index}`,
    userId: `usr_${index}`,
    walletAddress: '0x52908400098527886e0f7030069857d2e4169ee7',
    surface: 'user',
    keyId: `key_${index}`,
    keyVersion: 1,
    policyIds,
    scopes: ['cards.read', 'cards.write', 'subscriptions.read', 'subscriptions.write'],
    issuedAt: now,
    expiresAt: now + 86_400_000,
  }
}

/** Tokens of distinct sessions, by default ES256, and the published key that verifies them. */
export async function benchTokens(
  count: number,
  {
    typ = 'at+jwt',
    policyIds,
    algorithm: alg = 'ES256',
  }: { typ?: string; policyIds?: readonly string[]; algorithm?: string } = {},
): Promise<{ readonly tokens: readonly string[]; readonly jwk: JWK }> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  const jwk = { ...(await exportJWK(publicKey)), kid: 'bench', alg, use: 'sig' }
  const tokens = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      new SignJWT({ ...toClaims(benchSession(index, policyIds)), iss: BENCH_ISSUER, aud: BENCH_AUDIENCE })
        .setProtectedHeader({ alg, typ, kid: 'bench' })
        .sign(privateKey),
    ),
  )
  return { tokens, jwk }
}
