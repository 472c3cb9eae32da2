import { toFault } from '../fault.ts'
import type { SqlRow, SqlValue } from './client.ts'

/** One statement, as one text. A connection prepares it once under its name; under `''` each time. */
export interface NamedStatement {
  readonly name: string
  readonly text: string
  readonly values: readonly SqlValue[]
}

/** Which ends of a transaction go with a statement: BEGIN ahead of it, COMMIT behind it. */
export interface Ends {
  readonly begin: boolean
  readonly commit: boolean
}

type Value = string | Buffer | null

/** The part of a `pg` client that a batch uses; its cursors are built on the same. */
interface BatchClient {
  readonly pipeline: false
  query(batch: Batch): unknown
  getTypeParser(type: number, format: 'text'): (text: string) => unknown
}

/** The part of `pg`'s Connection that writes messages. `more` is always true: corked, they leave as one. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void; destroy(): void }
  close(statement: { type: 'S'; name: string }, more: true): void
  parse(statement: { name: string; text: string }, more: true): void
  bind(portal: { statement: string; values: Value[] }, more: true): void
  describe(portal: { type: 'P' }, more: true): void
  execute(portal: object, more: true): void
  sync(): void
}

interface Column {
  readonly name: string
  readonly dataTypeID: number
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

/** What batches have prepared on a connection: the columns of each statement by its name. */
type Prepared = Map<string, readonly Column[]>

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

const NO_COLUMNS: readonly Column[] = []
const NO_VALUES: Value[] = []
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

function submit(
  wire: Wire,
  prepared: Prepared,
  { name, text, values }: { name: string; text: string; values: Value[] },
  ends: Ends,
): void {
  wire.stream.cork()
  try {
    if (ends.begin) sendEnd(wire, prepared, name, 'begin')
    const known = prepared.has(name)
    if (!known) parse(wire, name, text)
    wire.bind({ statement: name, values }, true)
    if (!known) wire.describe({ type: 'P' }, true)
    wire.execute({}, true)
    if (ends.commit) sendEnd(wire, prepared, name, 'commit')
    wire.sync()
  } finally {
    wire.stream.uncork()
  }
}

/** Nothing is prepared under the name, or a batch that failed has done it. */
function parse(wire: Wire, name: string, text: string): void {
  if (name !== '') wire.close({ type: 'S', name }, true)
  wire.parse({ name, text }, true)
}

/** An end is prepared where the statement is. */
function sendEnd(wire: Wire, prepared: Prepared, name: string, text: 'begin' | 'commit'): void {
  const own = name === '' ? '' : `batch.${text}`
  if (!prepared.has(own)) {
    parse(wire, own, text)
    if (own !== '') prepared.set(own, NO_COLUMNS)
  }
  wire.bind({ statement: own, values: NO_VALUES }, true)
  wire.execute({}, true)
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
