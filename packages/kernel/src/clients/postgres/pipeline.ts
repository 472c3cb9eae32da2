import { toFault } from '../../fault.ts'
import type { SqlRow, SqlValue } from '../sql-client.ts'
import {
  NO_COLUMNS,
  writeStatement,
  type Columns,
  type ProtocolConnection,
  type TransactionEnds,
} from './protocol.ts'

/** The part of a `pg` client that accepts custom query objects, such as those of `pg-cursor`. */
interface PipelineClient {
  readonly pipeline: false
  query(batch: Batch): unknown
  getTypeParser(type: number, format: 'text'): (text: string) => unknown
}

/** One row as the server sends it, before its values are parsed. */
type TextRow = readonly (string | null)[]

interface Result {
  readonly rows: readonly SqlRow[]
}

/** The query object that `pg` calls while the batch is its active query. */
interface Batch {
  /** For tools that log what a client runs. */
  readonly text: string
  readonly values: readonly SqlValue[]
  readonly ends: TransactionEnds
  /** Read at each call, because `pg` replaces it when the pool has a `query_timeout`. */
  callback(error: unknown, result?: Result): void
  submit(connection: ProtocolConnection): void
  handleRowDescription(message: { readonly fields: Columns }): void
  handleDataRow(message: { readonly fields: TextRow }): void
  handleCommandComplete(): void
  handleEmptyQuery(): void
  handleCopyInResponse(connection: ProtocolConnection): void
  handleCopyData(): void
  handlePortalSuspended(): void
  handleError(error: unknown): void
  handleReadyForQuery(): void
}

const preparedOn = new WeakMap<object, Map<string, Columns>>()

/**
 * Whether a connection can send a statement together with BEGIN or COMMIT: only a client of `pg` in its default
 * mode. An older `pg`, `pg-native`, a client in pipeline mode and a wrapper send the statements one by one.
 */
export function canPipeline(connection: object): connection is PipelineClient {
  const { pipeline, getTypeParser, native } = connection as Partial<Record<string, unknown>>
  return pipeline === false && getTypeParser !== undefined && native === undefined
}

/**
 * Runs a statement together with the BEGIN before it, the COMMIT after it, or both, in one round trip of the extended
 * query protocol. The server skips everything after the first of them that fails. A connection prepares a statement
 * once under its name; a statement named `''` is prepared each time. Fault: `ERR_STORE_UNAVAILABLE`.
 *
 * `pg`'s own pipeline mode runs the statement even if BEGIN fails, and costs a pay-in 5 to 8 % more CPU (decision 0059,
 * `npm run bench -- idempotency-store`).
 */
export function sendPipelined(
  client: PipelineClient,
  statement: { readonly name: string; readonly text: string; readonly values: readonly SqlValue[] },
  ends: TransactionEnds,
): Promise<Result> {
  let prepared = preparedOn.get(client)
  if (!prepared) {
    prepared = new Map()
    preparedOn.set(client, prepared)
  }
  return new Promise((resolve, reject) => {
    const done = (error: unknown, result?: Result): void => {
      if (result) resolve(result)
      else reject(toFault('postgres', error))
    }
    try {
      client.query(createBatch(client, prepared, statement, ends, done))
    } catch (cause) {
      done(cause)
    }
  })
}

const ignore = (): void => {}

function createBatch(
  client: PipelineClient,
  prepared: Map<string, Columns>,
  statement: Parameters<typeof sendPipelined>[1],
  ends: TransactionEnds,
  callback: Batch['callback'],
): Batch {
  const { name, text } = statement
  // Converted before anything is sent: an error here must not leave half a batch on the connection.
  const values = statement.values.map(toProtocolValue)
  let columns = NO_COLUMNS
  const textRows: TextRow[] = []
  const batch: Batch = {
    text,
    values: statement.values,
    ends,
    callback,
    submit(connection) {
      // Looked up when the batch is sent, not when it is queued: a batch before it may have prepared the statement.
      columns = prepared.get(name) ?? NO_COLUMNS
      writeStatement(connection, prepared, { name, text, values }, ends)
    },
    // BEGIN and COMMIT are not described and return no rows, so these messages belong to the statement.
    handleRowDescription(message) {
      columns = message.fields
    },
    handleDataRow(message) {
      textRows.push(message.fields)
    },
    handleCommandComplete: ignore,
    handleEmptyQuery: ignore,
    handleCopyData: ignore,
    handlePortalSuspended: ignore,
    handleCopyInResponse(connection) {
      // The server would read the messages after a COPY as data of the COPY, in a way that depends on its version. So this
      // disconnects.
      connection.stream.destroy()
    },
    handleError(error) {
      // Which statements of the failed batch were prepared is unknown: the next batch prepares them again.
      prepared.clear()
      batch.callback(error)
    },
    handleReadyForQuery() {
      if (name !== '' && !prepared.has(name)) prepared.set(name, columns)
      try {
        batch.callback(null, { rows: parseRows(client, columns, textRows) })
      } catch (error) {
        batch.callback(error)
      }
    },
  }
  return batch
}

function toProtocolValue(value: SqlValue): string | Buffer | null {
  if (value === null || typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  throw new TypeError(
    `a statement value must be a string, number, bigint, null or Uint8Array, not ${typeof value}`,
  )
}

function parseRows(
  client: PipelineClient,
  columns: Columns,
  textRows: readonly TextRow[],
): readonly SqlRow[] {
  return textRows.map(values => {
    const row: Record<string, unknown> = {}
    columns.forEach(({ name, dataTypeID }, index) => {
      const text = values[index] ?? null
      row[name] = text === null ? null : client.getTypeParser(dataTypeID, 'text')(text)
    })
    return row
  })
}
