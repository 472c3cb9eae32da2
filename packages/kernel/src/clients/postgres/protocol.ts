/** Whether a statement is sent with the BEGIN before it, with the COMMIT after it, or with both. */
export interface TransactionEnds {
  readonly begin: boolean
  readonly commit: boolean
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

/**
 * Writes a statement, with the BEGIN and COMMIT that go with it, ahead of one Sync message. The server skips
 * everything after the first message that fails. `prepared` has the columns of the statements that the connection has
 * prepared, by their names.
 */
export function writeStatement(
  connection: ProtocolConnection,
  prepared: Map<string, Columns>,
  { name, text, values }: { name: string; text: string; values: (string | Buffer | null)[] },
  { begin, commit }: TransactionEnds,
): void {
  connection.stream.cork()
  try {
    if (begin) writeTransactionEnd(connection, prepared, name, 'begin')
    const isPrepared = prepared.has(name)
    if (!isPrepared) parse(connection, name, text)
    connection.bind({ statement: name, values }, true)
    if (!isPrepared) connection.describe({ type: 'P' }, true)
    connection.execute({}, true)
    if (commit) writeTransactionEnd(connection, prepared, name, 'commit')
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

/** Writes BEGIN or COMMIT. It is a prepared statement if the statement that it goes with is one. */
function writeTransactionEnd(
  connection: ProtocolConnection,
  prepared: Map<string, Columns>,
  statementName: string,
  text: 'begin' | 'commit',
): void {
  const name = statementName === '' ? '' : `batch.${text}`
  if (!prepared.has(name)) {
    parse(connection, name, text)
    if (name !== '') prepared.set(name, NO_COLUMNS)
  }
  connection.bind({ statement: name, values: [] }, true)
  connection.execute({}, true)
}
