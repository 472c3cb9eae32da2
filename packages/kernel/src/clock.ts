/** Milliseconds since 1970-01-01T00:00:00Z, as an integer. Storage ports express every instant in it. */
export type EpochMs = number

/** The clock that decisions read. Tests replace it. */
export interface Clock {
  now(): EpochMs
}

/** The machine's wall clock. */
export const systemClock: Clock = { now: () => Date.now() }

/**
 * How long storage keeps an entry after its `expiresAt`, in ms (10 minutes). Each caller decides about expiry by its own
 * clock. The delay keeps a host with a fast clock from deleting what a host with a slow clock still needs.
 */
export const GRACE_MS = 600_000
