import { allow, Fault, type Verdict, type EpochMs } from '@gatewright/kernel'
import { integerOption } from '@gatewright/kernel/internal'
import type { OrmClient } from '@gatewright/kernel/orms'
import type { SqlClient, SqlQueries, SqlTransaction } from '@gatewright/kernel/sql'
import {
  assertOutsideTransactionScope,
  withinTransactionScope,
  withRollBack,
} from '@gatewright/kernel/internal/sql'
import type { IdempotencyDenial } from './codes.ts'
import { createAccountTurns, NO_TURN, type AccountTurns } from './execution/account-turns.ts'
import { createCoordinator, type Coordinator } from './execution/coordinator.ts'
import { decide, type AttemptResult, type ExecutionStrategy, type StartedRun } from './execution/decide.ts'
import { within } from './execution/timer.ts'
import { controlsTransaction } from './execution/transaction-control.ts'
import { waitInPlace } from './execution/wait-in-place.ts'
import { checkedSettings, type IdempotencyBaseOptions } from './options.ts'
import { identify, type IdempotentRequest, type IdentifiedRequest } from './request/identify.ts'
import { labelOf } from './request/label.ts'
import { encrypted } from './response/encryption.ts'
import { retain } from './response/retention.ts'
import { classify, type StoredResponse } from './response/stored-response.ts'
import type { TransactionStorage } from './storage/port.ts'

/** Options of `createTransactionalIdempotency`. */
export interface TransactionalOptions extends IdempotencyBaseOptions {
  /** The database that holds the business rows and the idempotency records. */
  readonly db: SqlClient
  /** Makes the storage of the records in an open transaction: `postgresTransactionalIdempotency` or `sqliteIdempotency`. */
  readonly storage: (tx: SqlTransaction) => TransactionStorage
  /**
   * How many transactions of one account run at once in this process, 1 to 1000, default 1000. Others wait without a connection, up to
   * `waitMs` and in one of the `maxWaiters` places, and are denied with `request_in_progress` after that. A small number suits writes
   * that all lock the same row of their account: waiting in the database costs each a connection.
   */
  readonly maxTransactionsPerAccount?: number
}

/** The second argument of the handler, after its transaction. */
export interface RunContext {
  readonly fence: number
  readonly effectId: string
}

/**
 * The response of a write, and whether it is a replay. `expiresAt` is null if the response was not stored. `effectId` is the same in
 * each run and replay of a request.
 */
export interface TransactionResult {
  readonly response: StoredResponse
  readonly replayed: boolean
  readonly expiresAt: EpochMs | null
  readonly effectId: string
}

/** Runs a write and stores its record in one transaction. `Tx` is the transaction of a handler. */
export interface TransactionalIdempotency<Tx = SqlQueries> {
  /**
   * Runs `handler` once per key. Its rows and its response commit together or not at all, also after a crash. A response that
   * `classify` does not call final rolls back everything the handler wrote and is returned without being stored. An error of
   * the handler also rolls back, and is rethrown. The handler must use only `tx` and do no network I/O. Simultaneous duplicates
   * wait up to `waitMs` without holding a connection, and so do writes of an account that has `maxTransactionsPerAccount` transactions.
   *
   * `prepare` is for work that needs the network. It runs before the transaction, at most once, and only if no response is
   * stored; this costs one more read of the record. Its error is rethrown, and nothing is stored. Two processes that get the request at the
   * same time may both run it. Pass `effectId`, which is the same in every run of the request, to other services, so that their results can
   * be found again. Denials: all of this package. Faults: `ERR_STORE_*`; after one, the client retries with the same key.
   */
  run(
    request: IdempotentRequest,
    handler: (tx: Tx, run: RunContext) => Promise<StoredResponse>,
    prepare?: (run: Pick<RunContext, 'effectId'>) => Promise<void>,
  ): Promise<Verdict<TransactionResult, IdempotencyDenial>>
  /**
   * Runs a write without a key and without a record, in a transaction of its own: each call runs `handler`. Its rows commit if the response
   * is below 400, and are rolled back otherwise and for an error, which is rethrown. `prepare` runs before the transaction. `effectId` is
   * random, and `fence` is 0.
   */
  runUnrecorded(
    handler: (tx: Tx, run: RunContext) => Promise<StoredResponse>,
    prepare?: (run: Pick<RunContext, 'effectId'>) => Promise<void>,
  ): Promise<Verdict<TransactionResult, IdempotencyDenial>>
  /**
   * Waits until every run that this process has started has ended, but at most `atMostMs`, by default `leaseMs`: the transaction of a
   * handler that never responds is rolled back when the process exits. Resolves to the number of runs that have not ended. Wait for it
   * before the process exits.
   */
  drained(atMostMs?: number): Promise<number>
}

type Handler = Parameters<TransactionalIdempotency['run']>[1]
type Prepare = NonNullable<Parameters<TransactionalIdempotency['run']>[2]>

/** A run whose transaction has ended. */
interface CompletedRun extends StartedRun {
  readonly result: TransactionResult
}

/** Attempts the write once. */
type Attempt = (
  request: IdentifiedRequest,
  handler: Handler,
  giveUpAt: number,
) => Promise<AttemptResult<CompletedRun>>
/** Returns why the write cannot run now. Undefined if it can. */
type WhyNotNow = (
  request: IdentifiedRequest,
  giveUpAt: number,
) => Promise<AttemptResult<CompletedRun> | undefined>

/** A handler whose response is not final, so that its run is rolled back: it shows whether the write may run. */
const PROBE: Handler = async () => ({ status: 503, headers: [], body: '' })

/**
 * Makes idempotent writes that commit together with the business rows. With a `db` over an ORM, such as `fromKysely(kysely)`, a handler gets
 * the transaction of the ORM, and must not begin or end one by SQL of its own. Throws a `TypeError` for a wrong option.
 */
export function createTransactionalIdempotency<Tx>(
  options: TransactionalOptions & { readonly db: OrmClient<Tx> },
): TransactionalIdempotency<Tx>
export function createTransactionalIdempotency(options: TransactionalOptions): TransactionalIdempotency
export function createTransactionalIdempotency(options: TransactionalOptions): TransactionalIdempotency {
  const { settings, db, storage, maxTransactionsPerAccount } = checkedOptions(options)
  const transactionOfHandler = handlerTransactions(db)
  const records = encrypted(storage(db), settings.encryption)
  const coordinator = createCoordinator(settings, records)
  const turns = createAccountTurns(maxTransactionsPerAccount)

  const runInTransaction = async (
    tx: SqlTransaction,
    { request, storageKey, effectId }: IdentifiedRequest,
    handler: Handler,
    rollBack: (result: AttemptResult<CompletedRun>) => never,
  ): Promise<AttemptResult<CompletedRun>> => {
    const record = encrypted(storage(tx), settings.encryption)
    const startedAt = settings.clock.now()
    // Nobody sees the record of the run before it has ended, so what is written first is when the ended one expires.
    const expiresAt = startedAt + settings.retentionMs
    const begun = await record.begin(storageKey, effectId, expiresAt, startedAt, labelOf(request))
    if (begun.state !== 'started') return rollBack(begun)
    const { fence } = begun
    const response = await withinTransactionScope(db, () =>
      handler(transactionOfHandler(tx), { fence, effectId }),
    )
    if (classify(response.status) !== 'final') {
      const result = { response, replayed: false, expiresAt: null, effectId }
      return rollBack({ state: 'started', result, ended: { outcome: undefined } })
    }
    const endedAt = settings.clock.now()
    const { ending, replay } = retain(response, expiresAt, settings)
    const ended = record.endLast
      ? await record.endLast(storageKey, fence, ending, endedAt)
      : await record.end(storageKey, fence, ending, endedAt)
    // Another run has decided about the key since the snapshot that the record was read from: the next attempt reads it.
    if (!ended) return rollBack({ state: 'running' })
    const result = { response, replayed: false, expiresAt, effectId }
    return { state: 'started', result, ended: { outcome: allow(replay) } }
  }

  const attemptNow = (request: IdentifiedRequest, handler: Handler): Promise<AttemptResult<CompletedRun>> =>
    withRollBack<AttemptResult<CompletedRun>>(
      db,
      (tx, rollBack) => runInTransaction(tx, request, handler, rollBack),
      // The first statement reads the record, and BEGIN is sent together with it.
      { lazyBegin: true },
    )
  const inTurn = runInTurn(coordinator, turns)
  const attempt: Attempt = (request, handler, giveUpAt) =>
    inTurn(request, giveUpAt, () => attemptNow(request, handler))
  const whyNotNow: WhyNotNow = (request, giveUpAt) =>
    inTurn(request, giveUpAt, async () => {
      // A key without a record may run: one plain read, where an attempt would insert a record and roll it back.
      if ((await records.find(request.storageKey)) === undefined) return undefined
      const probed = await attemptNow(request, PROBE)
      return probed.state === 'started' ? undefined : probed
    })

  return {
    async run(request, handler, prepare) {
      // Otherwise a run inside a handler would wait for the turn that this handler has.
      assertOutsideTransactionScope(db)
      const identified = identify(request, settings)
      if (!identified.ok) return identified
      return decide(coordinator, identified.value, {
        attempt: prepare
          ? attemptPrepared(attempt, whyNotNow, { handler, prepare })
          : (identifiedRequest, giveUpAt) => attempt(identifiedRequest, handler, giveUpAt),
        started: (_request, { result }) => result,
        replayed: ({ response, expiresAt }, { effectId }) => ({
          response,
          expiresAt,
          effectId,
          replayed: true,
        }),
      })
    },
    async runUnrecorded(handler, prepare) {
      assertOutsideTransactionScope(db)
      const effectId = crypto.randomUUID().replaceAll('-', '')
      await prepare?.({ effectId })
      const response = await withRollBack<StoredResponse>(db, async (tx, rollBack) => {
        const made = await withinTransactionScope(db, () =>
          handler(transactionOfHandler(tx), { fence: 0, effectId }),
        )
        return made.status < 400 ? made : rollBack(made)
      })
      return allow({ response, replayed: false, expiresAt: null, effectId })
    },
    drained: (atMostMs = settings.leaseMs) =>
      within(settings.timer, atMostMs, timeUp => coordinator.runs.drained(timeUp)),
  }
}

/** Checks the options and fills in their defaults. */
function checkedOptions(options: TransactionalOptions) {
  const where = 'createTransactionalIdempotency'
  const own = { db: true, storage: true, maxTransactionsPerAccount: true } as const
  const settings = checkedSettings(where, options, own)
  const { db, storage, maxTransactionsPerAccount = 1000 } = options
  if (typeof db?.transaction !== 'function') {
    throw new TypeError('createTransactionalIdempotency: db must be a SqlClient, such as fromPgPool(pool)')
  }
  if (typeof storage !== 'function') {
    throw new TypeError(
      'createTransactionalIdempotency: storage must be a function of the transaction, such as postgresTransactionalIdempotency',
    )
  }
  integerOption(`${where}: maxTransactionsPerAccount`, maxTransactionsPerAccount, 1, 1000)
  return { settings, db, storage, maxTransactionsPerAccount }
}

/** Makes an attempt that first calls `prepare`, once, if the write can run then. */
function attemptPrepared(
  attempt: Attempt,
  whyNotNow: WhyNotNow,
  { handler, prepare }: { readonly handler: Handler; readonly prepare: Prepare },
): ExecutionStrategy<CompletedRun, TransactionResult>['attempt'] {
  let prepared = false
  return async (request, giveUpAt) => {
    if (!prepared) {
      const notNow = await whyNotNow(request, giveUpAt)
      if (notNow) return notNow
      await prepare({ effectId: request.effectId })
      prepared = true
    }
    return attempt(request, handler, giveUpAt)
  }
}

/** Makes work wait until its account has a turn. `no_turn`: it had none until `giveUpAt`, and nothing was done. */
function runInTurn(coordinator: Coordinator, turns: AccountTurns) {
  return async <T>(
    request: IdentifiedRequest,
    giveUpAt: number,
    work: () => Promise<T>,
  ): Promise<T | { readonly state: 'no_turn' }> => {
    const result = await turns.run(
      request.request.account,
      turn => waitInPlace(coordinator, { request, giveUpAt }, Infinity, () => turn),
      work,
    )
    return result === NO_TURN ? { state: 'no_turn' } : result
  }
}

/** Returns what makes a handler's transaction: that of the ORM, or one that cannot be ended by the handler. */
function handlerTransactions(db: SqlClient): (tx: SqlQueries) => SqlQueries {
  const { ormTransaction } = db as Partial<OrmClient<SqlQueries>>
  return ormTransaction ?? withoutTransactionControl
}

/** Wraps the transaction of a handler: it may set savepoints, but not begin or end a transaction. */
function withoutTransactionControl(tx: SqlQueries): SqlQueries {
  const check = (text: string): void => {
    if (!controlsTransaction(text)) return
    throw new Fault(
      'ERR_OUTSIDE_TRANSACTION',
      'the handler tried to begin or end a transaction, or to run several statements in one text',
    )
  }
  return {
    dialect: tx.dialect,
    async query(text, values) {
      check(text)
      return tx.query(text, values)
    },
    ...(tx.defer && {
      defer(text, values, received) {
        check(text)
        tx.defer?.(text, values, received)
      },
    }),
  }
}
