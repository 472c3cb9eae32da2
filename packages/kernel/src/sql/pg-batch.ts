import { toFault } from '../fault.ts'
import type { SqlRow, SqlValue } from './client.ts'
import {
  NO_COLUMNS,
  submit,
  type Column,
  type Ends,
  type Prepared,
  type Value,
  type Wire,
} from './pg-wire.ts'

/** One statement, as one text. A connection prepares it once under its name; under `''` each time. */
export interface NamedStatement {
  readonly name: string
  readonly text: string
  readonly values: readonly SqlValue[]
}

/** The part of a `pg` client that a batch uses; its cursors are built on the same. */
interface BatchClient {
  readonly pipeline: false
  query(batch: Batch): unknown
  getTypeParser(type: number, format: 'text'): (text: string) => unknown
}

/** One row as it comes: texts. */
type Cells = readonly (string | null)[]

/** What the statement answers. */
interface Answer {
  readonly rows: readonly SqlRow[]
}

/** What `pg` calls while the batch is its active query. */
interface Batch {
  /** For whoever watches what a client runs. */
  readonly text: string
  readonly values: readonly SqlValue[]
  readonly ends: Ends
  /** Read at each call: `pg` puts its own in the place of it where the pool has a `query_timeout`. */
  callback(error: unknown, answer?: Answer): void
  submit(wire: Wire): void
  handleRowDescription(message: { readonly fields: readonly Column[] }): void
  handleDataRow(message: { readonly fields: Cells }): void
  handleCommandComplete(): void
  handleEmptyQuery(): void
  handleCopyInResponse(wire: Wire): void
  handleCopyData(): void
  handlePortalSuspended(): void
  handleError(error: unknown): void
  handleReadyForQuery(): void
}

const preparedOn = new WeakMap<object, Prepared>()

/**
 * Whether a connection can take a batch: a client of `pg` that sends one query at a time and says so. An older
 * version, pg-native, one in pipeline mode or somebody's wrapper gets its statements one by one.
 */
export function takesBatches(connection: object): connection is BatchClient {
  const { pipeline, getTypeParser, native } = connection as Partial<Record<string, unknown>>
  return pipeline === false && getTypeParser !== undefined && native === undefined
}

/**
 * Runs a statement with one or both ends of its transaction in one round trip, as one unit of the extended
 * protocol, and answers its rows. The first of them that fails ends it: what is behind is not run. Fault:
 * `ERR_STORE_UNAVAILABLE`.
 */
export function sendBatch(client: BatchClient, statement: NamedStatement, ends: Ends): Promise<Answer> {
  let prepared = preparedOn.get(client)
  if (!prepared) {
    prepared = new Map()
    preparedOn.set(client, prepared)
  }
  return new Promise((resolve, reject) => {
    const done = (error: unknown, answer?: Answer): void => {
      if (answer) resolve(answer)
      else reject(toFault('postgres', error))
    }
    try {
      client.query(batchOf(client, prepared, statement, ends, done))
    } catch (cause) {
      done(cause)
    }
  })
}

const ignore = (): void => {}

function batchOf(
  client: BatchClient,
  prepared: Prepared,
  statement: NamedStatement,
  ends: Ends,
  callback: Batch['callback'],
): Batch {
  const { name, text } = statement
  const values = statement.values.map(toWire)
  let columns = NO_COLUMNS
  const cells: Cells[] = []
  const batch: Batch = {
    text,
    values: statement.values,
    ends,
    callback,
    submit(wire) {
      // Here, and not when it was queued: one ahead of it may have prepared the statement.
      columns = prepared.get(name) ?? NO_COLUMNS
      submit(wire, prepared, { name, text, values }, ends)
    },
    // The ends are not described and have no rows: all of these are the statement's.
    handleRowDescription(message) {
      columns = message.fields
    },
    handleDataRow(message) {
      cells.push(message.fields)
    },
    handleCommandComplete: ignore,
    handleEmptyQuery: ignore,
    handleCopyData: ignore,
    handlePortalSuspended: ignore,
    handleCopyInResponse(wire) {
      // What has been sent behind it would be read as data, by each server version in its own way: start anew.
      wire.stream.destroy()
    },
    handleError(error) {
      // Which of them were prepared is not known: the next batch prepares them anew.
      prepared.clear()
      batch.callback(error)
    },
    handleReadyForQuery() {
      if (name !== '' && !prepared.has(name)) prepared.set(name, columns)
      try {
        batch.callback(null, { rows: readRows(client, columns, cells) })
      } catch (error) {
        batch.callback(error)
      }
    },
  }
  return batch
}

/** As texts, before anything is sent: what fails here must not leave half a batch on the wire. */
function toWire(value: SqlValue): Value {
  if (value === null || typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  throw new TypeError('a value of a statement is a string, number, bigint, null or bytes')
}

function readRows(
  client: BatchClient,
  columns: readonly Column[],
  cells: readonly Cells[],
): readonly SqlRow[] {
  return cells.map(values => {
    const row: Record<string, unknown> = {}
    columns.forEach(({ name, dataTypeID }, index) => {
      const text = values[index] ?? null
      row[name] = text === null ? null : client.getTypeParser(dataTypeID, 'text')(text)
    })
    return row
  })
}
