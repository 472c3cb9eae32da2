import type { EpochMs, HeaderField } from '@gatewright/kernel'

/**
 * Makes the header fields that inform the client about the stored response: `Idempotency-Replayed: true` on a replay, and
 * `Idempotency-Expires`, the HTTP date until which the key gets this response, if it is stored.
 */
export function recordHeaders(record: {
  readonly replayed: boolean
  readonly expiresAt: EpochMs | null
}): HeaderField[] {
  const headers: HeaderField[] = record.replayed ? [['Idempotency-Replayed', 'true']] : []
  if (record.expiresAt !== null) {
    headers.push(['Idempotency-Expires', new Date(record.expiresAt).toUTCString()])
  }
  return headers
}
