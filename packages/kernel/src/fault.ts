/** Codes a `Fault` can carry. All of them become HTTP 503 with `Retry-After`. */
export type FaultCode =
  /** The store did not answer, or refused. Whether the step took effect is unknown. */
  | 'ERR_STORE_UNAVAILABLE'
  /** The store answered something its adapter cannot read. Whether the step took effect is unknown. */
  | 'ERR_STORE_REPLY'
  /** A bounded store is full of live entries and must not forget one. Nothing was stored. */
  | 'ERR_STORE_FULL'
  /** Verification or signing keys cannot be had. */
  | 'ERR_KEYS_UNAVAILABLE'
  /** A chain's RPC endpoint is down, slow or talks nonsense. */
  | 'ERR_RPC_UNAVAILABLE'
  /** A provider (identity check, card issuer, payments) is down or slow. Whether it took the call is unknown. */
  | 'ERR_PROVIDER_UNAVAILABLE'
  /** A provider answered something that its adapter cannot read. Whether it took the call is unknown. */
  | 'ERR_PROVIDER_REPLY'
  /** A column was sealed with a key that `DATA_KEYS` no longer names. Put the key back. */
  | 'ERR_DATA_KEY_MISSING'
  /** More work is in flight than the process accepts; nothing was started. */
  | 'ERR_OVERLOADED'
  /** Another run took the write over, since this one took longer than its lease. Whether this one took effect is unknown. */
  | 'ERR_LEASE_LOST'
  /** A handler used the database beside the transaction it was given: a mistake in its code. Nothing was done. */
  | 'ERR_OUTSIDE_TRANSACTION'

/**
 * A broken world: thrown, never returned, and never turned into a yes, 401, 403 or 429 by a catch-all.
 * `message` is for logs; hosts answer a fixed text instead. The driver's error is in `cause`.
 */
export class Fault extends Error {
  override readonly name = 'Fault'
  readonly code: FaultCode
  /** Seconds a client should wait before it tries again; rendered as `Retry-After`. */
  readonly retryAfterSeconds: number

  constructor(
    code: FaultCode,
    message: string,
    options: { cause?: unknown; retryAfterSeconds?: number } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    this.retryAfterSeconds = options.retryAfterSeconds ?? 1
  }
}

/** Runs a store call and turns whatever the driver throws into an `ERR_STORE_UNAVAILABLE` fault; faults pass. */
export async function orFault<T>(store: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (cause) {
    throw toFault(store, cause)
  }
}

/** What a store call threw, as a fault: `ERR_STORE_UNAVAILABLE` with the cause, or the fault that it is. */
export function toFault(store: string, cause: unknown): Fault {
  return cause instanceof Fault ? cause : new Fault('ERR_STORE_UNAVAILABLE', `${store} failed`, { cause })
}

/** The fault for a reply that its adapter cannot read. The reply itself is left out: it may hold secrets. */
export function malformedReply(store: string, expected: string): Fault {
  return new Fault('ERR_STORE_REPLY', `${store} sent a malformed reply: expected ${expected}`)
}
