/** A registered symbol, so that two copies of this package agree. */
const MARK = Symbol.for('gatewright.nothingHappened')

/**
 * Declares that what threw this error had no effect and will have none, and returns the error:
 * `throw nothingHappened(new HttpError(422))`. An idempotent run that ends with it frees its key instead of leaving an unknown
 * outcome. Only the very error counts, not one that has it as `cause`. Call it where you throw, with a new error: the declaration
 * cannot be withdrawn. Throws a `TypeError` for a value that is not an object or cannot be extended.
 */
export function nothingHappened<E extends object>(error: E): E {
  if (typeof error !== 'object' || error === null || !Object.isExtensible(error))
    throw new TypeError(
      `nothingHappened: expected an error object that is not frozen, got ${error === null ? 'null' : typeof error}`,
    )
  // Not enumerable: it must not appear in logs or JSON.
  return Object.defineProperty(error, MARK, { value: true })
}

/** Whether `nothingHappened` was called with this error, by any copy of this package. Works on any thrown value and never throws. */
export function saysNothingHappened(error: unknown): boolean {
  try {
    // Not an inherited property: an error is marked where it is thrown, never by its class.
    return typeof error === 'object' && error !== null && Object.hasOwn(error, MARK)
  } catch {
    // A proxy may throw. Such an error says nothing.
    return false
  }
}
