/** The codes of a `Fault`. A host responds to all of them with HTTP 503 and `Retry-After`. */
export type FaultCode =
  /** The store did not reply, or rejected the call. Whether the step took effect is unknown. */
  | 'ERR_STORE_UNAVAILABLE'
  /** The adapter cannot read the store's reply. Whether the step took effect is unknown. */
  | 'ERR_STORE_REPLY'
  /** A store of limited size is full of entries that have not expired. Nothing was stored. */
  | 'ERR_STORE_FULL'
  /** Verification or signing keys are unavailable. */
  | 'ERR_KEYS_UNAVAILABLE'
  /** A chain's RPC endpoint is down, too slow, or sends replies that cannot be read. */
  | 'ERR_RPC_UNAVAILABLE'
  /** A provider (identity check, card issuer, payments) is down or slow. Whether it took the call is unknown. */
  | 'ERR_PROVIDER_UNAVAILABLE'
  /** A provider sent a response that its adapter cannot read. Whether it took the call is unknown. */
  | 'ERR_PROVIDER_REPLY'
  /** A column or a stored response was encrypted with a key that is not in the list (`DATA_KEYS`, `encryption.keys`). Add it again. */
  | 'ERR_DATA_KEY_MISSING'
  /** An API key is stored under a pepper that this process does not know. Add the pepper to the list, or revoke the key. */
  | 'ERR_PEPPER_MISSING'
  /** The process has more work than it accepts. Nothing was started. */
  | 'ERR_OVERLOADED'
  /** Another run took the write over, because this one outlived its lease. Whether this one took effect is unknown. */
  | 'ERR_LEASE_LOST'
  /** A handler used the database outside the transaction that it was given: a bug in the handler. Nothing was done. */
  | 'ERR_OUTSIDE_TRANSACTION'
  /** A handler whose rule spends would have responded with success, and has reserved nothing: a bug in the handler. */
  | 'ERR_NOT_RESERVED'
  /** A handler would have responded with success, and did not say how its hold ends: a bug in the handler. The hold counts. */
  | 'ERR_HOLD_NOT_ENDED'
  /** The id of a hold is in use for other amounts or caps. Nothing was reserved. Release that hold, or use another id. */
  | 'ERR_HOLD_CONFLICT'

/** A registered symbol, so that two copies of this package agree. */
const MARK = Symbol.for('gatewright.fault')

/**
 * A failure of something that a decision depends on. It is thrown, never returned. A catch-all must not turn it into a
 * success, a 401, 403 or 429. `message` is for logs; hosts send a fixed text. `cause` has the driver's error.
 */
export class Fault extends Error {
  override readonly name = 'Fault'

  /** Whether a value is a fault, of any copy of this package. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return Object(value)[MARK] === true
  }

  readonly code: FaultCode
  /** Seconds that a client should wait before it tries again; sent as `Retry-After`. */
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

Object.defineProperty(Fault.prototype, MARK, { value: true })

/** Runs a store call. Turns any error into an `ERR_STORE_UNAVAILABLE` fault, except one that is a fault already. */
export async function orFault<T>(store: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (cause) {
    throw toFault(store, cause)
  }
}

/** Turns an error of a store call into an `ERR_STORE_UNAVAILABLE` fault with that cause. Returns a fault unchanged. */
export function toFault(store: string, cause: unknown): Fault {
  if (cause instanceof Fault) return cause
  const advice = lacksTable(cause)
    ? ': a table is missing, so call migrate() of the store before the server listens'
    : ''
  return new Fault('ERR_STORE_UNAVAILABLE', `${store} failed${advice}`, { cause })
}

/** Whether a driver says that a table does not exist: Postgres by a code, SQLite by its message. */
function lacksTable(cause: unknown): boolean {
  const { code, message } = Object(cause) as { readonly code?: unknown; readonly message?: unknown }
  return code === '42P01' || (typeof message === 'string' && message.startsWith('no such table'))
}

/** Makes the fault for a reply that the adapter cannot read. It leaves the reply out, because that may hold secrets. */
export function malformedReply(store: string, expected: string): Fault {
  return new Fault('ERR_STORE_REPLY', `${store} sent a malformed reply: expected ${expected}`)
}
