import type { Problem } from './problem.ts'

/** The longest random part of a wait, in ms, before the first retry. It doubles with each retry. */
const JITTER_MS = 500
const MAX_JITTER_MS = 8000

/**
 * Whether a request that failed may be sent again. `repeatable`: it has no second effect, because it only reads or has an idempotency key.
 * A 429 was denied before any effect, so that every request may be repeated.
 */
export function mayRetry({ code, status }: Problem, repeatable: boolean): boolean {
  if (status === 429) return true
  if (!repeatable) return false
  if (code === 'unrecognized_response') return status === 502 || status === 503 || status === 504
  return code === 'service_unavailable' || code === 'no_response'
}

/**
 * How long to wait before a retry, in ms: at least `Retry-After`, and a random time more, so that clients which failed together do not
 * return together. `retry`: 1 for the first one. `random`: from 0 up to 1.
 */
export function waitBefore(retry: number, { retryAfterSeconds = 0 }: Problem, random: number): number {
  return retryAfterSeconds * 1000 + random * Math.min(MAX_JITTER_MS, JITTER_MS * 2 ** (retry - 1))
}
