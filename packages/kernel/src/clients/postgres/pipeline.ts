import { toFault } from '../../fault.ts'
import type { SqlRow, SqlValue } from '../sql-client.ts'
import {
  NO_COLUMNS,
  writeStatements,
  type Columns,
  type PreparedStatements,
  type ProtocolConnection,
  type ProtocolStatement,
} from './protocol.ts'

/** A statement that is sent before another one. */
export interface DeferredStatement extends ProtocolStatement {
  /** Called with its rows when all have run. Undefined: the rows are dropped. */
  readonly received?: ((rows: readonly SqlRow[]) => void) | undefined
}

/** What is sent in the round trip of a statement besides it. */
export interface SentTogether {
  /** Whether BEGIN is sent before everything else. */
  readonly begin: boolean
  /** Statements that are sent before it. */
  readonly deferred: readonly DeferredStatement[]
  /** Whether COMMIT is sent after it. */
  readonly commit: boolean
}

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

/**
 * The query object that `pg` calls while the batch is its active query. Instrumentation may pass a copy with another `text` and
 * `callback` to `pg`: so the methods are members of the object itself, and call the callback of the object that they are called on.
 */
interface Batch {
  /** The statement whose rows are returned. For tools that log what a client runs, as `statements`. */
  readonly text: string
  readonly values: readonly SqlValue[]
  /** All that is sent, in order, BEGIN and COMMIT too. */
  readonly statements: readonly ProtocolStatement[]
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

const preparedOn = new WeakMap<object, PreparedStatements>()

/**
 * Whether a connection can send a statement together with others, BEGIN or COMMIT: only a client of `pg` in its default
 * mode. An older `pg`, `pg-native`, a client in pipeline mode and a wrapper send the statements one by one.
 */
export function canPipeline(connection: object): connection is PipelineClient {
  const { pipeline, getTypeParser, native } = connection as Partial<Record<string, unknown>>
  return pipeline === false && getTypeParser !== undefined && native === undefined
}

/**
 * Runs a statement together with the BEGIN and the deferred statements before it and the COMMIT after it, in one round trip of
 * the extended query protocol. Resolves to its rows. The server skips everything after the first statement that fails. A connection
 * prepares a statement once under its name; a statement named `''` is prepared each time. Fault: `ERR_STORE_UNAVAILABLE`.
 *
 * `pg`'s own pipeline mode runs the statement even if BEGIN fails, and costs a pay-in 5 to 8 % more CPU (decision 0059,
 * `npm run bench -- idempotency-store`).
 */
export function sendPipelined(
  client: PipelineClient,
  statement: ProtocolStatement,
  { begin, deferred, commit }: SentTogether,
): Promise<Result> {
  let prepared = preparedOn.get(client)
  if (!prepared) {
    prepared = new Map()
    preparedOn.set(client, prepared)
  }
  const before = begin ? [transactionEnd(statement, 'begin'), ...deferred] : deferred
  const after = commit ? [transactionEnd(statement, 'commit')] : []
  const batch = { statements: [...before, statement, ...after], resultOf: before.length }
  return new Promise((resolve, reject) => {
    const done = (error: unknown, result?: Result): void => {
      if (result) resolve(result)
      else reject(toFault('postgres', error))
    }
    try {
      client.query(createBatch(client, prepared, batch, done))
    } catch (cause) {
      done(cause)
    }
  })
}

/** Makes BEGIN or COMMIT. It is a prepared statement if the statement that it goes with is one. */
function transactionEnd({ name }: ProtocolStatement, text: 'begin' | 'commit'): ProtocolStatement {
  return { name: name === '' ? '' : `batch.${text}`, text, values: [] }
}

const ignore = (): void => {}

function createBatch(
  client: PipelineClient,
  prepared: PreparedStatements,
  { statements, resultOf }: { readonly statements: readonly DeferredStatement[]; readonly resultOf: number },
  callback: Batch['callback'],
): Batch {
  const { text, values } = statements[resultOf] as DeferredStatement
  let completed = 0
  /** Of the statements whose rows somebody reads, by their index. */
  const unnamedColumns: Columns[] = []
  const textRows: TextRow[][] = []
  const isRead = (index: number): boolean => index === resultOf || statements[index]?.received !== undefined
  const rowsOf = (index: number): readonly SqlRow[] => {
    const { name } = statements[index] as DeferredStatement
    const columns = (name === '' ? unnamedColumns[index] : prepared.get(name)) ?? NO_COLUMNS
    return parseRows(client, columns, textRows[index] ?? [])
  }
  // Each statement ends with one of three messages. The messages before it are its own.
  const complete = (): void => {
    completed += 1
  }
  return {
    text,
    values,
    statements,
    callback,
    submit(connection) {
      writeStatements(connection, prepared, statements)
    },
    handleRowDescription({ fields }) {
      const described = statements[completed] as DeferredStatement
      if (described.name !== '') prepared.set(described.name, fields)
      else unnamedColumns[completed] = fields
    },
    handleDataRow(message) {
      if (isRead(completed)) (textRows[completed] ??= []).push(message.fields)
    },
    handleCommandComplete: complete,
    handleEmptyQuery: complete,
    handlePortalSuspended: complete,
    handleCopyData: ignore,
    handleCopyInResponse(connection) {
      // The server would read the messages after a COPY as data of the COPY, in a way that depends on its version. So this
      // disconnects.
      connection.stream.destroy()
    },
    handleError(error) {
      // Which statements of the failed batch were prepared is unknown: the next batch prepares them again.
      prepared.clear()
      this.callback(error)
    },
    handleReadyForQuery() {
      try {
        for (const [index, { received }] of statements.entries()) received?.(rowsOf(index))
        this.callback(null, { rows: rowsOf(resultOf) })
      } catch (error) {
        this.callback(error)
      }
    },
  }
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
