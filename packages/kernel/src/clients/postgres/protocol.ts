import type { SqlValue } from '../sql-client.ts'

/** A statement as it is sent. One with the name `''` is prepared each time. */
export interface ProtocolStatement {
  readonly name: string
  readonly text: string
  readonly values: readonly (string | Buffer | null)[]
}

/** The columns of a result, as the server describes them. */
export type Columns = readonly { readonly name: string; readonly dataTypeID: number }[]

/**
 * The part of `pg`'s `Connection` that writes protocol messages. `more` is always true: the stream is corked, so all
 * messages leave in one write.
 */
export interface ProtocolConnection {
  readonly stream: { cork(): void; uncork(): void; destroy(): void }
  close(statement: { type: 'S'; name: string }, more: true): void
  parse(statement: { name: string; text: string }, more: true): void
  bind(portal: { statement: string; values: (string | Buffer | null)[] }, more: true): void
  describe(portal: { type: 'P' }, more: true): void
  execute(portal: object, more: true): void
  sync(): void
}

/** The columns of a statement that returns no rows. */
export const NO_COLUMNS: Columns = []

/** The statements that a connection has prepared, by their names, with the columns of their results. */
export type PreparedStatements = Map<string, Columns>

/**
 * Writes statements ahead of one Sync message. The server runs them in order, and skips everything after the first message
 * that fails. A statement is described only when it is prepared.
 */
export function writeStatements(
  connection: ProtocolConnection,
  prepared: PreparedStatements,
  statements: readonly ProtocolStatement[],
): void {
  connection.stream.cork()
  try {
    for (const { name, text, values } of statements) {
      const isPrepared = prepared.has(name)
      if (!isPrepared) parse(connection, name, text)
      connection.bind({ statement: name, values: [...values] }, true)
      if (!isPrepared) connection.describe({ type: 'P' }, true)
      connection.execute({}, true)
      // The description follows. The same statement may come again in this batch.
      if (!isPrepared && name !== '') prepared.set(name, NO_COLUMNS)
    }
    connection.sync()
  } finally {
    connection.stream.uncork()
  }
}

/** Prepares a statement. A batch that failed may have prepared one under the same name: it is closed first. */
function parse(connection: ProtocolConnection, name: string, text: string): void {
  if (name !== '') connection.close({ type: 'S', name }, true)
  connection.parse({ name, text }, true)
}

/** Converts a value to the form in which it is sent. Throws a `TypeError` for a value of another type. */
export function toProtocolValue(value: SqlValue): string | Buffer | null {
  if (value === null || typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  throw new TypeError(
    `a statement value must be a string, number, bigint, null or Uint8Array, not ${typeof value}`,
  )
}
