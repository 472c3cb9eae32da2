import type { JWK } from 'jose'
import type { KeyRing } from './key-ring.ts'

/** The public keys and the header fields of a response with them. The JWKS document (RFC 7517) is `{ keys }`. */
export interface PublishedJwks {
  readonly keys: JWK[]
  /** How long a verifier may cache the document. Rotation relies on no verifier keeping it longer. */
  readonly maxAgeSeconds: number
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** Builds the JWKS document of a key ring, with its headers. */
export async function jwksDocument(ring: KeyRing, maxAgeSeconds: number): Promise<PublishedJwks> {
  return {
    keys: [...(await ring.publicKeys())],
    maxAgeSeconds,
    headers: [
      ['content-type', 'application/jwk-set+json'],
      ['cache-control', `public, max-age=${maxAgeSeconds}`],
    ],
  }
}
