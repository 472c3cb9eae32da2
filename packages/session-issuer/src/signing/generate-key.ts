import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose'
import type { SigningAlgorithm, SigningKey } from '../storage/signing-port.ts'

/** Generates a signing key with its RFC 7638 thumbprint as `kid`. */
export async function generateSigningKey(
  algorithm: SigningAlgorithm,
): Promise<Pick<SigningKey, 'kid' | 'algorithm' | 'privateJwk'>> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true })
  const privateJwk = await exportJWK(privateKey)
  return { kid: await calculateJwkThumbprint(privateJwk), algorithm, privateJwk }
}
