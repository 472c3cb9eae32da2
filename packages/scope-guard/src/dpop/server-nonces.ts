import type { EpochMs } from '@gatewright/kernel'
import { decodeBytes, encodeBytes } from '#platform/base64url'

/** How long a nonce is accepted after it was issued. */
const LIFE_MS = 300_000
/** From this age on, an accepted nonce is replaced, so that clients that send requests regularly are never denied for its age. */
const RENEWED_AFTER_MS = LIFE_MS / 2

/** Nonces that this API issues for the proofs of its clients (RFC 9449 section 9). They are signed and not stored. */
export interface ServerNonces {
  issue(now: EpochMs): Promise<string>
  /**
   * Decides whether a proof may have this nonce: one that was issued with the same secret, less than 5 minutes ago. `aging`: accepted,
   * and the response should give the client a new one.
   */
  check(nonce: unknown, now: EpochMs): Promise<'fresh' | 'aging' | 'denied'>
}

/** Makes the nonces of a secret. Hosts with the same secret accept each other's nonces. */
export function serverNonces(secret: string, toleranceMs: number): ServerNonces {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = crypto.subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, [
    'sign',
    'verify',
  ])
  return {
    async issue(now) {
      const issued = now.toString(36)
      const signature = await crypto.subtle.sign('HMAC', await key, signedBytes(issued))
      return `${issued}-${encodeBytes(new Uint8Array(signature))}`
    },
    async check(nonce, now) {
      const [, issued, signature] =
        (typeof nonce === 'string' ? /^([0-9a-z]{1,10})-([\w-]{43})$/.exec(nonce) : null) ?? []
      if (issued === undefined || signature === undefined) return 'denied'
      const isOurs = await crypto.subtle.verify(
        'HMAC',
        await key,
        decodeBytes(signature),
        signedBytes(issued),
      )
      const ageMs = now - parseInt(issued, 36)
      if (!isOurs || ageMs < -toleranceMs || ageMs >= LIFE_MS) return 'denied'
      return ageMs < RENEWED_AFTER_MS ? 'fresh' : 'aging'
    },
  }
}

/** The prefix keeps signatures of other texts with the same secret from being nonces. */
const signedBytes = (issued: string): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(`gatewright dpop nonce ${issued}`)
