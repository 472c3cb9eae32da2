import { allow, Fault, knownOptions, type Verdict, type OptionNames } from '@gatewright/kernel'
import {
  withinTransactionScope,
  type SqlClient,
  type SqlQueries,
  type SqlTransaction,
} from '@gatewright/kernel/sql'
import { classify, type StoredAnswer } from './answer.ts'
import type { IdempotencyDenial } from './codes.ts'
import { controlsTransaction } from './control.ts'
import { decide, modeOf, type Attempt, type Started, type Way } from './decide.ts'
import { keeping } from './ending.ts'
import { checkedOptions, COMMON_OPTIONS, type CommonOptions } from './options.ts'
import { identify, type IdentifiedRequest, type RequestFacts } from './request.ts'
import type { TransactionStorage } from './storage/port.ts'

/** Options of `createTransactionalIdempotency`. */
export interface TransactionalOptions extends CommonOptions {
  /** The database that holds the business rows, and the record beside them. */
  readonly db: SqlClient
  /** The record in an open transaction: `postgresTransactionStorage` or `sqliteStorage`. */
  readonly storage: (tx: SqlTransaction) => TransactionStorage
}

const OPTIONS: OptionNames<TransactionalOptions> = { ...COMMON_OPTIONS, db: true, storage: true }

/** What the handler is given beside its transaction. */
export interface RunFacts {
  readonly fence: number
  readonly effectId: string
}

/** The answer, and whether it is an earlier one. `expiresAt` is null for an answer that was not kept. */
export interface Answered {
  readonly answer: StoredAnswer
  readonly replayed: boolean
  readonly expiresAt: number | null
}

/** A write and its record in one transaction. */
export interface TransactionalIdempotency {
  /**
   * Runs `handler` once per key: its rows and its answer commit together or not at all, whatever crashes.
   * An answer that `classify` does not call final rolls back everything the handler wrote, and is returned
   * unrecorded; so does an error of the handler, which is passed on. The handler uses only `tx` and does no
   * network I/O. Simultaneous duplicates wait up to `waitMs` without holding a connection. `prepare` is for what needs
   * the network and changes nothing: it runs before the transaction, at most once, and only where neither a stored answer
   * nor another run stands in the way, which costs one look at the record more. Its error is passed on, unrecorded.
   * Denials: all of this package. Faults: `ERR_STORE_*`; after one, the client asks again.
   */
  run(
    facts: RequestFacts,
    handler: (tx: SqlQueries, run: RunFacts) => Promise<StoredAnswer>,
    prepare?: () => Promise<void>,
  ): Promise<Verdict<Answered, IdempotencyDenial>>
  /** Resolves when every run that this process has started is ended: wait for it before exit. */
  drained(): Promise<void>
}

/** The record's begin is the first statement, and goes out with the transaction's. */
const BEGIN_LATE = { lazyBegin: true }

/** A run that has ended with its attempt. */
interface Ran extends Started {
  readonly value: Answered
}

const OUTCOMES: Omit<Way<Ran, Answered>, 'attempt'> = {
  started: (_, { value }) => value,
  replayed: ({ answer, expiresAt }) => ({ answer, expiresAt, replayed: true }),
}

/** What an attempt came to that was rolled back on purpose. */
interface RolledBack {
  as: Attempt<Ran> | undefined
}

type Handler = Parameters<TransactionalIdempotency['run']>[1]

/** Begins a run to see whether it may, and takes it back: the answer is not final. */
const LOOK: Handler = async () => ({ status: 503, headers: [], body: '' })

/** Idempotent writes that commit exactly once, with the business rows they make. */
export function createTransactionalIdempotency(options: TransactionalOptions): TransactionalIdempotency {
  const { db, storage } = knownOptions('createTransactionalIdempotency', options, OPTIONS)
  if (typeof db?.transaction !== 'function') {
    throw new TypeError('createTransactionalIdempotency: db must be a SqlClient, such as fromPgPool(pool)')
  }
  if (typeof storage !== 'function') {
    throw new TypeError(
      'createTransactionalIdempotency: storage must be a function of the transaction, such as postgresTransactionStorage',
    )
  }
  const settings = checkedOptions(options)
  const mode = modeOf(settings, storage(db))

  // Both are made once: V8 compiles what is made for each run again after each collection.
  const inTransaction = async (
    tx: SqlTransaction,
    { storageKey, effectId }: IdentifiedRequest,
    handler: Handler,
    rolledBack: RolledBack,
  ): Promise<Attempt<Ran>> => {
    const record = storage(tx)
    const now = settings.clock.now()
    const begun = await record.begin(storageKey, effectId, now + settings.leaseMs, now)
    if (begun.state !== 'started') return begun
    const { fence } = begun
    const answer = await withinTransactionScope(db, () => handler(withoutControl(tx), { fence, effectId }))
    if (classify(answer.status) !== 'final') {
      const value = { answer, replayed: false, expiresAt: null }
      rolledBack.as = { state: 'started', value, settled: { as: undefined } }
      throw new Error('rolled back: the answer is not final')
    }
    const endedAt = settings.clock.now()
    const expiresAt = endedAt + settings.retentionMs
    const { ending, kept } = keeping(answer, expiresAt, settings)
    const ended = record.endLast
      ? record.endLast(storageKey, fence, ending, endedAt)
      : record.end(storageKey, fence, ending, endedAt)
    if (!(await ended)) {
      // Somebody decided about the key between the read of the begin and its lock: see what it was.
      rolledBack.as = { state: 'running' }
      throw new Error('rolled back: another run was first')
    }
    const value = { answer, replayed: false, expiresAt }
    return { state: 'started', value, settled: { as: allow(kept) } }
  }

  const attempt = async (request: IdentifiedRequest, handler: Handler): Promise<Attempt<Ran>> => {
    const rolledBack: RolledBack = { as: undefined }
    try {
      return await db.transaction(tx => inTransaction(tx, request, handler, rolledBack), BEGIN_LATE)
    } catch (error) {
      if (!rolledBack.as) throw error
      return rolledBack.as
    }
  }

  const prepared = (handler: Handler, prepare: () => Promise<void>): Way<Ran, Answered>['attempt'] => {
    let ready = false
    return async asked => {
      if (!ready) {
        const looked = await attempt(asked, LOOK)
        if (looked.state !== 'started') return looked
        await prepare()
        ready = true
      }
      return attempt(asked, handler)
    }
  }

  return {
    async run(facts, handler, prepare) {
      const request = identify(facts, settings)
      if (!request.ok) return request
      const { value } = request
      if (prepare) return decide(mode, value, { attempt: prepared(handler, prepare), ...OUTCOMES })
      return decide(mode, value, { attempt: asked => attempt(asked, handler), ...OUTCOMES })
    },
    drained: () => mode.runs.drained(),
  }
}

/** The transaction as the handler gets it: it may set savepoints, but not end what holds rows and answer together. */
function withoutControl(tx: SqlQueries): SqlQueries {
  return { query: (text, values) => (controlsTransaction(text) ? refused() : tx.query(text, values)) }
}

const refused = async (): Promise<never> => {
  const tried = 'end or begin a transaction by itself, or run several statements as one'
  throw new Fault('ERR_OUTSIDE_TRANSACTION', `the handler tried to ${tried}`)
}
