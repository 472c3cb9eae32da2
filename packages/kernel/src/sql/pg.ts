import { keyDigest } from '../digest.ts'
import { Fault, orFault, toFault } from '../fault.ts'
import { knownOptions, type OptionNames } from '../options.ts'
import { assertOutsideTransactionScope } from './transaction-scope.ts'
import { sendBatch, takesBatches } from './pg-batch.ts'
import type { Ends } from './pg-wire.ts'
import type { SqlClient, SqlRow, SqlTransaction, SqlTransactionOptions, SqlValue } from './client.ts'

interface PgStatement {
  readonly name: string
  readonly text: string
  readonly values: unknown[]
}

interface PgReply {
  readonly rows: readonly SqlRow[]
  readonly command?: string
}

interface PgQueries {
  query(statement: string | PgStatement, values?: unknown[]): Promise<PgReply>
}

interface PgConnection extends PgQueries {
  release(destroy?: boolean): void
  on(event: 'error', listener: () => void): unknown
  off(event: 'error', listener: () => void): unknown
}

interface PgPool extends PgQueries {
  connect(): Promise<PgConnection>
}

const ignore = (): void => {}

/** Options of `fromPgPool`. */
export interface PgPoolOptions {
  /**
   * Prepares each statement that has values, once per connection, so that the server does not plan it again.
   * Default false: a pooler in transaction mode may not carry prepared statements. Use it with a fixed set of texts.
   */
  readonly prepare?: boolean
}

const TRANSACTION: OptionNames<SqlTransactionOptions> = { beginLate: true }
const OPTIONS: OptionNames<PgPoolOptions> = {
  prepare: true,
}

/** Runs statements as they are, or by the name of their text. Values are copied: they may wait in a queue. */
interface Runner {
  one(on: PgQueries, text: string, values: readonly SqlValue[]): Promise<PgReply>
  /** With the beginning ahead of it or the commit behind it, in one round trip where the driver can. */
  joined(on: PgConnection, text: string, values: readonly SqlValue[], ends: Ends): Promise<PgReply>
}

function runner(prepare: boolean): Runner {
  const nameOf = namesOf(keyDigest)
  // Under names of their own: the driver keeps account of those that it has prepared itself.
  const batchNameOf = namesOf(text => (prepare ? `batch.${keyDigest(text)}` : ''))
  const one: Runner['one'] = async (on, text, values) => {
    try {
      if (!prepare || values.length === 0) return await on.query(text, [...values])
      return await on.query({ name: nameOf(text), text, values: [...values] })
    } catch (cause) {
      throw toFault('postgres', cause)
    }
  }
  const oneByOne: Runner['joined'] = async (on, text, values, ends) => {
    if (ends.begin) await one(on, 'begin', [])
    const reply = await one(on, text, values)
    if (ends.commit) committed(await one(on, 'commit', []))
    return reply
  }
  const joined: Runner['joined'] = (on, text, values, ends) => {
    if (!takesBatches(on)) return oneByOne(on, text, values, ends)
    const name = values.length === 0 ? '' : batchNameOf(text)
    return sendBatch(on, { name, text, values }, ends)
  }
  return { one, joined }
}

/** Remembers what each text is called. */
function namesOf(name: (text: string) => string): (text: string) => string {
  const names = new Map<string, string>()
  return text => {
    let known = names.get(text)
    if (known === undefined) {
      known = name(text)
      names.set(text, known)
    }
    return known
  }
}

/** COMMIT of a transaction that had failed answers ROLLBACK and no error. */
function committed(reply: PgReply): void {
  if (reply.command !== 'ROLLBACK') return
  throw new Fault('ERR_STORE_UNAVAILABLE', 'postgres rolled the transaction back at commit')
}

/** A transaction on a connection that it has for itself. */
interface Opened {
  readonly tx: SqlTransaction
  /** Commits, or waits for the commit that the work has asked for. */
  commit(): Promise<void>
  /** Whether the connection is as it was: it can be used again. */
  rollback(): Promise<boolean>
}

function open(connection: PgConnection, { one, joined }: Runner, late: boolean): Opened {
  let ended = false
  let begun = !late
  /** The first statement until it has succeeded: whether there is a transaction is not known before. */
  let beginning: Promise<PgReply> | undefined
  let committing: Promise<PgReply> | undefined
  const refused = (): Promise<never> =>
    Promise.reject(new Error('the transaction has ended: use tx only inside its own work function'))
  const hasBegun = (): void => {
    beginning = undefined
  }
  const beginWith = (text: string, values: readonly SqlValue[], commit: boolean): Promise<PgReply> => {
    begun = true
    const first = joined(connection, text, values, { begin: true, commit })
    beginning = first
    first.then(hasBegun, ignore)
    return first
  }
  /** Runs a later statement: behind the beginning, and not at all where that failed. */
  const then = (run: () => Promise<PgReply>): Promise<PgReply> => (beginning ? beginning.then(run) : run())
  return {
    tx: {
      query(text, values = []) {
        if (ended) return refused()
        return begun ? then(() => one(connection, text, values)) : beginWith(text, values, false)
      },
      commit(text, values = []) {
        if (ended) return refused()
        ended = true
        committing = begun
          ? then(() => joined(connection, text, values, { begin: false, commit: true }))
          : beginWith(text, values, true)
        return committing
      },
    },
    async commit() {
      ended = true
      if (committing ?? beginning) await (committing ?? beginning)
      if (!committing && begun) committed(await orFault('postgres', () => connection.query('commit')))
    },
    async rollback() {
      ended = true
      if (!begun) return true
      return connection.query('rollback').then(
        () => true,
        () => false,
      )
    },
  }
}

/**
 * Recipe for a `pg` Pool. The pool stays the team's: size, TLS and timeouts are set on it, and it needs an
 * `error` listener, because an idle connection that dies would otherwise end the process.
 */
export function fromPgPool(pool: PgPool, options: PgPoolOptions = {}): SqlClient {
  const { prepare = false } = knownOptions('fromPgPool', options, OPTIONS)
  const run = runner(prepare)
  const db: SqlClient = {
    async query(text, values = []) {
      assertOutsideTransactionScope(db)
      return run.one(pool, text, values)
    },
    async transaction(work, chosen: SqlTransactionOptions = {}) {
      const { beginLate = false } = knownOptions('transaction', chosen, TRANSACTION)
      assertOutsideTransactionScope(db)
      const connection = await orFault('postgres', () => pool.connect())
      // The pool listens on idle connections only. One that dies in use emits an error as well as failing its
      // statements, and without a listener that would end the process.
      connection.on('error', ignore)
      const { tx, commit, rollback } = open(connection, run, beginLate)
      let healthy = false
      try {
        if (!beginLate) await orFault('postgres', () => connection.query('begin'))
        const result = await work(tx)
        await commit()
        healthy = true
        return result
      } catch (error) {
        healthy = await rollback()
        throw error
      } finally {
        connection.off('error', ignore)
        connection.release(!healthy)
      }
    },
  }
  return db
}
