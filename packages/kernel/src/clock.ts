/** Milliseconds since 1970-01-01T00:00:00Z, as an integer. The unit of every instant that crosses a port. */
export type EpochMs = number

/** Where decisions take the time from, so that a test can hold it. */
export interface Clock {
  now(): EpochMs
}

/** The machine's wall clock. */
export const systemClock: Clock = { now: () => Date.now() }

/**
 * How long storage keeps an entry after its `expiresAt`, in ms (10 minutes). Expiry is decided against the
 * caller's clock; deleting later means that a fast host deletes nothing that a slow one still needs.
 */
export const GRACE_MS = 600_000
