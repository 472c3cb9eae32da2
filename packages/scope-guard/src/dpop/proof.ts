import { keyDigest, type EpochMs } from '@gatewright/kernel'
import { importVerificationKey } from '#platform/signature'
import type { JWK } from 'jose'
import type { GuardReason } from '../codes.ts'
import { decodeSegment, typeMatcher, type Claims } from '../token/claims.ts'
import { isCanonicalCompact } from '../token/compact.ts'
import { algorithmName, algorithmOf, weaknessOf } from '../token/key-rules.ts'

/** The facts that a proof must match. */
interface ProofFacts {
  /** The `DPoP` field as received. Several fields are joined by a comma. */
  readonly proof: string
  readonly method: string
  /** The URLs of the requested resource, one for each origin by which clients reach it. Queries and fragments are ignored. */
  readonly urls: readonly string[]
  readonly accessToken: string
  /** The thumbprint of the key that the access token is bound to. */
  readonly thumbprint: string
  readonly now: EpochMs
  readonly maxAgeMs: number
  /** How far `iat` may be in the future. */
  readonly toleranceMs: number
}

/** A proof that is acceptable, except that its signature and its earlier use were not checked yet. */
interface UnverifiedProof {
  readonly text: string
  readonly jwk: JWK
  readonly algorithm: string
  readonly jti: string
  /** The nonce of the proof, of any type; undefined if it has none. */
  readonly nonce: unknown
  readonly expiresAt: EpochMs
}

/** The longest `DPoP` field, in characters. */
const MAX_PROOF = 8192
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const
const RSA_ALGORITHM = /^[RP]S(?:256|384|512)$/

const isProofType = typeMatcher(['dpop+jwt'])
const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** Runs all checks of RFC 9449 section 4.3 but the signature. The first that fails is the reason. */
export async function precheckProof(facts: ProofFacts): Promise<UnverifiedProof | GuardReason> {
  const { proof } = facts
  if (proof.includes(',')) return 'more than one DPoP proof'
  if (proof.length > MAX_PROOF || !isCanonicalCompact(proof))
    return 'the DPoP proof is not a canonical compact JWS'
  const [head, payload] = proof.split('.') as [string, string]
  const [header, claims] = [decodeSegment(head), decodeSegment(payload)]
  if (!header || !claims) return 'the DPoP proof is not a canonical compact JWS'
  const key = keyOf(header)
  if (typeof key === 'string') return key
  const problem = validateProofClaims(claims, facts)
  if (problem !== undefined) return problem
  const { calculateJwkThumbprint } = await import('jose/jwk/thumbprint')
  // It rejects for a key that lacks a member.
  const thumbprint = await calculateJwkThumbprint(key.jwk).catch(() => undefined)
  if (thumbprint === undefined) return 'the DPoP proof has no public key'
  if (thumbprint !== facts.thumbprint) return 'the DPoP proof is by another key'
  const { jti, iat } = claims as { jti: string; iat: number }
  return {
    text: proof,
    ...key,
    jti,
    nonce: claims['nonce'],
    expiresAt: Math.floor(iat * 1000) + facts.maxAgeMs,
  }
}

/** Reads the public key of a proof and its algorithm. */
function keyOf(header: Claims): Pick<UnverifiedProof, 'jwk' | 'algorithm'> | GuardReason {
  if (!isProofType(header['typ'])) return 'wrong typ of the DPoP proof'
  if ('crit' in header) return 'crit header of the DPoP proof'
  const { alg, jwk: publicKey } = header
  if (typeof publicKey !== 'object' || publicKey === null || Array.isArray(publicKey))
    return 'the DPoP proof has no public key'
  const { kty, crv, x, y, n, e } = publicKey as JWK
  if (PRIVATE_MEMBERS.some(member => member in publicKey)) return 'the DPoP proof has no public key'
  const members = Object.entries({ kty, crv, x, y, n, e }).filter(([, value]) => value !== undefined)
  if (!members.every(([, value]) => typeof value === 'string')) return 'the DPoP proof has no public key'
  const jwk = Object.fromEntries(members) as JWK
  const isRsa = kty === 'RSA' && typeof alg === 'string' && RSA_ALGORITHM.test(alg)
  const algorithm = isRsa ? alg : algorithmOf(jwk, 'RS256')
  const isAlgorithmOfKey = kty !== undefined && algorithm !== undefined && algorithmName(alg) === algorithm
  if (!isAlgorithmOfKey || isCostly(jwk) || weaknessOf(jwk) !== undefined)
    return 'the algorithm of the DPoP proof is not accepted'
  return { jwk, algorithm }
}

/**
 * Whether a signature by this key takes long to check. The client chooses the key, so the modulus may have at most 4,096 bits
 * and the exponent 32 bits (683 and 6 characters of base64url).
 */
const isCostly = ({ n = '', e = '' }: JWK): boolean => n.length > 683 || e.length > 6

function validateProofClaims(claims: Claims, facts: ProofFacts): GuardReason | undefined {
  const { jti, htm, htu, iat, ath } = claims
  const { method, urls, accessToken, now, maxAgeMs, toleranceMs } = facts
  if (!isText(jti) || !isText(htm) || !isText(htu) || typeof iat !== 'number' || !isText(ath))
    return 'the DPoP proof lacks jti, htm, htu, iat or ath'
  if (htm !== method) return 'the DPoP proof is for another method'
  const target = targetOf(htu)
  if (target === undefined || !urls.some(url => targetOf(url) === target))
    return 'the DPoP proof is for another URL'
  if (iat * 1000 > now + toleranceMs) return 'the DPoP proof was issued in the future'
  // Rounded like `expiresAt` of the claim, so that a proof is never claimed with an `expiresAt` that has passed.
  if (Math.floor(iat * 1000) + maxAgeMs <= now) return 'the DPoP proof is too old'
  return ath === keyDigest(accessToken) ? undefined : 'the DPoP proof is for another token'
}

/** Normalizes a URL without its query and fragment (section 4.3, check 9); undefined if the text is not a URL. */
function targetOf(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, host, pathname } = new URL(text)
  return `${protocol}//${host}${pathname}`
}

/** Whether the signature of a proof is by the key in its header. */
export async function isProofSigned({ text, jwk, algorithm }: UnverifiedProof): Promise<boolean> {
  try {
    const key = await importVerificationKey(jwk, algorithm)
    return await key.isSigned(text)
  } catch {
    // The client chose the key, so an unusable key is an invalid signature and not a fault.
    return false
  }
}
