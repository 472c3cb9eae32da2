/** Which ends of a transaction go with a statement: BEGIN ahead of it, COMMIT behind it. */
export interface Ends {
  readonly begin: boolean
  readonly commit: boolean
}

/** A value as it is sent. */
export type Value = string | Buffer | null

/** The part of `pg`'s Connection that writes messages. `more` is always true: corked, they leave as one. */
export interface Wire {
  readonly stream: { cork(): void; uncork(): void; destroy(): void }
  close(statement: { type: 'S'; name: string }, more: true): void
  parse(statement: { name: string; text: string }, more: true): void
  bind(portal: { statement: string; values: Value[] }, more: true): void
  describe(portal: { type: 'P' }, more: true): void
  execute(portal: object, more: true): void
  sync(): void
}

/** A column of an answer. */
export interface Column {
  readonly name: string
  readonly dataTypeID: number
}

/** What batches have prepared on a connection: the columns of each statement by its name. */
export type Prepared = Map<string, readonly Column[]>

/** Of a statement that answers no rows. */
export const NO_COLUMNS: readonly Column[] = []
const NO_VALUES: Value[] = []

/** Writes a statement and the ends that go with it, as one unit: one sync is behind all of it. */
export function submit(
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
