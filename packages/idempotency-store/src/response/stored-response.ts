import type { EpochMs, HeaderField } from '@gatewright/kernel'

/** An amount that a run has reserved, in the currency of the reservation. */
export interface StoredSpend {
  /** Minor units of the currency, a safe integer of at least 0. */
  readonly amountCents: number
  readonly currency: string
  /** Ids of other operations whose limits also apply to the amount. */
  readonly countsAs?: readonly string[]
}

/** An HTTP response as plain data, as the handler made it and as it is stored. */
export interface StoredResponse {
  readonly status: number
  readonly headers: readonly HeaderField[]
  readonly body: string
  /** The body was larger than `maxResponseBytes` and was not stored: `body` is empty, status and headers are real. */
  readonly bodyOmitted?: true
  /**
   * What the run has reserved. It is stored with the response and returned by a replay, to check the limits of the session
   * that asks. It is never sent to the client, and is not part of the fingerprint.
   */
  readonly spends?: readonly StoredSpend[]
}

/** A stored response, and until when it is replayed. */
export interface Replay {
  readonly response: StoredResponse
  readonly expiresAt: EpochMs
}

/**
 * Client errors that are decided before any effect: syntax and validation (400, 405, 406, 411, 413, 414, 415,
 * 416, 417, 422, 428, 431), authentication and authorisation (401, 403, 407, 511), payment required (402) and "try
 * again" (408, 421, 425, 426, 429). Every other 4xx is definitive (404, 409, 410, 412 ...) and is stored. 402 is not:
 * the client sends the same request again with the payment in a header (RFC 9110 section 15.5.3), or after it has
 * corrected a declined card, and a replay would deny that payment.
 */
const NOT_APPLIED = new Set([
  400, 401, 402, 403, 405, 406, 407, 408, 411, 413, 414, 415, 416, 417, 421, 422, 425, 426, 428, 429, 431,
  511,
])

/**
 * Decides what a status says about the effect. `final` (2xx, 3xx, definitive 4xx): it is decided, store the response.
 * `denied`: nothing happened, free the key. `unknown` (5xx and the rest): the effect may have happened.
 */
export function classify(status: number): 'final' | 'denied' | 'unknown' {
  if (NOT_APPLIED.has(status)) return 'denied'
  return status >= 200 && status < 500 ? 'final' : 'unknown'
}

/** Whether a value is a valid response. */
export function isStoredResponse(value: unknown): value is StoredResponse {
  const { status, headers, body, spends } = (value ?? {}) as Partial<StoredResponse>
  if (spends !== undefined && !areSpends(spends)) return false
  if (!Number.isInteger(status) || typeof body !== 'string' || !Array.isArray(headers)) return false
  return headers.every(field => {
    const [name, text, ...rest] = Array.isArray(field) ? (field as unknown[]) : []
    return typeof name === 'string' && typeof text === 'string' && rest.length === 0
  })
}

/** Whether a value is a list of valid spends. */
export function areSpends(value: unknown): value is readonly StoredSpend[] {
  if (!Array.isArray(value)) return false
  return value.every(spend => {
    const { amountCents, currency, countsAs = [] } = (spend ?? {}) as Partial<StoredSpend>
    if (!Array.isArray(countsAs) || !countsAs.every(name => typeof name === 'string')) return false
    return Number.isSafeInteger(amountCents) && (amountCents as number) >= 0 && typeof currency === 'string'
  })
}
