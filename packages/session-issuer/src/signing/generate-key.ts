import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose'
import type { SigningAlgorithm, SigningKey } from '../storage/signing-port.ts'

/**
 * Generates a signing key with its RFC 7638 thumbprint as `kid`. A key whose thumbprint begins with `-`, one of 64, is generated again:
 * operators pass the `kid` to commands, which would read it as an option.
 */
export async function generateSigningKey(
  algorithm: SigningAlgorithm,
): Promise<Pick<SigningKey, 'kid' | 'algorithm' | 'privateJwk'>> {
  for (;;) {
    const { privateKey } = await generateKeyPair(algorithm, { extractable: true })
    const privateJwk = await exportJWK(privateKey)
    const kid = await calculateJwkThumbprint(privateJwk)
    if (!kid.startsWith('-')) return { kid, algorithm, privateJwk }
  }
}
