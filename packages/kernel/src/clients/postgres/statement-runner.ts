import { Fault, toFault } from '../../fault.ts'
import { keyDigest } from '../../key-digest.ts'
import type { SqlRow, SqlValue } from '../sql-client.ts'
import { canPipeline, sendPipelined, type SentTogether } from './pipeline.ts'
import { toProtocolValue, type ProtocolStatement } from './protocol.ts'
import { isOutdatedPlan } from './retries.ts'

/** The part of `pg`'s query result that is read. */
export interface PgResult {
  readonly rows: readonly SqlRow[]
  readonly command?: string
}

/** The `query` that a `pg` pool and its connections share. */
export interface PgQueryable {
  query(
    statement: string | { readonly name: string; readonly text: string; readonly values: unknown[] },
    values?: unknown[],
  ): Promise<PgResult>
}

/** The part of a `pg` pool client that is used. */
export interface PgConnection extends PgQueryable {
  release(destroy?: boolean): void
  on(event: 'error', listener: () => void): unknown
  off(event: 'error', listener: () => void): unknown
}

/** Runs statements for a pool, as prepared statements or not. */
export interface StatementRunner {
  run(on: PgQueryable, text: string, values: readonly SqlValue[]): Promise<PgResult>
  /**
   * Runs a statement with what is sent together with it: in one round trip if the driver can, else one by one. Deferred
   * statements need a driver that can (`canPipeline`).
   */
  runTogether(
    on: PgConnection,
    text: string,
    values: readonly SqlValue[],
    together: SentTogether,
  ): Promise<PgResult>
  /** Makes a statement that is sent together with a later one. Fault: `ERR_STORE_UNAVAILABLE` for a value of another type. */
  toDeferred(text: string, values: readonly SqlValue[]): ProtocolStatement
}

const unusable = new WeakSet<object>()

/**
 * After these errors the next statement on the same connection would fail too. The server rejected a prepared statement, because its
 * tables have changed (0A000) or the server does not know it (26000). The server takes no writes (25006): it is a replica, perhaps a
 * primary that was demoted, and a new connection may lead to the new primary. The server is shutting down, has crashed or is starting
 * (57P01 to 57P03): a pooler in between may keep the connection open.
 */
const LASTING_ERRORS: ReadonlySet<unknown> = new Set(['0A000', '26000', '25006', '57P01', '57P02', '57P03'])

/**
 * Whether a connection must not be used again: the server replied with a lasting error, or a statement took longer than the pool's
 * `query_timeout`. In the second case `pg` still waits for the reply, and sends nothing until it arrives.
 */
export function isUnusable(connection: PgConnection): boolean {
  return unusable.has(connection)
}

function markIfUnusable(connection: object, error: unknown): void {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  if (LASTING_ERRORS.has(code) || message === 'Query read timeout') unusable.add(connection)
}

/** Makes the runner of a pool. With `prepare`, statements with values are prepared under a digest of their text. */
export function createStatementRunner(prepare: boolean): StatementRunner {
  /** How often tables have changed under prepared statements. Then all are prepared again, under new names. */
  let changes = 0
  const digestOf = memoized(keyDigest)
  const nameOf = (text: string): string => (changes === 0 ? digestOf(text) : `${digestOf(text)}.${changes}`)
  // Pipelined statements have names of their own, because `pg` tracks the statements that it has prepared itself.
  const pipelinedNameOf = (text: string): string => `batch.${nameOf(text)}`
  const note = (connection: object, error: unknown): void => {
    if (isOutdatedPlan(error)) changes += 1
    markIfUnusable(connection, error)
  }
  const run: StatementRunner['run'] = async (on, text, values) => {
    try {
      // The values are copied: `pg` may queue the statement, and the caller may change its array meanwhile.
      if (!prepare || values.length === 0) return await on.query(text, [...values])
      return await on.query({ name: nameOf(text), text, values: [...values] })
    } catch (cause) {
      note(on, cause)
      throw toFault('postgres', cause)
    }
  }
  const toStatement = (text: string, values: readonly SqlValue[]): ProtocolStatement => ({
    name: prepare && values.length > 0 ? pipelinedNameOf(text) : '',
    text,
    // Converted before anything is sent: an error here must not leave half a batch on the connection.
    values: values.map(toProtocolValue),
  })
  const runOneByOne: StatementRunner['runTogether'] = async (on, text, values, { begin, commit }) => {
    if (begin) await run(on, 'begin', [])
    const result = await run(on, text, values)
    if (commit) assertCommitted(await run(on, 'commit', []))
    return result
  }
  return {
    run,
    async runTogether(on, text, values, together) {
      if (!canPipeline(on)) return runOneByOne(on, text, values, together)
      try {
        return await sendPipelined(on, toStatement(text, values), together)
      } catch (cause) {
        const fault = toFault('postgres', cause)
        note(on, fault.cause)
        throw fault
      }
    },
    toDeferred(text, values) {
      try {
        return toStatement(text, values)
      } catch (cause) {
        throw toFault('postgres', cause)
      }
    },
  }
}

/** Throws if a COMMIT rolled back: in a failed transaction, Postgres replies to COMMIT with ROLLBACK and no error. */
export function assertCommitted(result: PgResult): void {
  if (result.command !== 'ROLLBACK') return
  throw new Fault('ERR_STORE_UNAVAILABLE', 'postgres rolled the transaction back at commit')
}

function memoized(compute: (text: string) => string): (text: string) => string {
  const results = new Map<string, string>()
  return text => {
    let result = results.get(text)
    if (result === undefined) {
      result = compute(text)
      results.set(text, result)
    }
    return result
  }
}
