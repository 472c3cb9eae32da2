/** How many characters of a message a line repeats. */
const MAX_MESSAGE = 200

/**
 * The classes of SQL errors whose messages name values of a statement: data exceptions, violated constraints, and errors that a
 * function raised itself.
 */
const WITH_VALUES = /^(?:22|23|P0)[0-9A-Z]{3}$/

/**
 * Describes the cause of a fault for the log: the code and the message of the driver's error, such as `SQLITE_BUSY database is locked`.
 * What is quoted in the message, and messages of SQL errors about values, are left out, since they may repeat what a client
 * sent. Undefined for a cause that is not an error.
 */
export function causeText(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return undefined
  // The error of several attempts to connect has no message of its own.
  const error = cause instanceof AggregateError && cause.message === '' ? (cause.errors[0] as unknown) : cause
  if (!(error instanceof Error)) return undefined
  const { code } = error as { code?: unknown }
  const named = typeof code === 'string' && /^\w{1,40}$/.test(code) ? code : undefined
  if (named !== undefined && WITH_VALUES.test(named)) return named
  // Some drivers say what happened by the class of the error alone, such as the `TimeoutError` of node-redis.
  const message = (error.message || error.constructor.name)
    .slice(0, 4 * MAX_MESSAGE)
    .replace(/'[^']*(?:'|$)/g, "'...'")
    .replace(/[^\u0020-\u007e]/g, ' ')
    .slice(0, MAX_MESSAGE)
  return named === undefined || message.includes(named) ? message : `${named} ${message}`
}
