import { nextTurn } from '#platform'
import { toFault } from '../fault.ts'

/** The work of one caller. */
interface Job {
  /** Starts the work, in the async context of its caller. */
  readonly start: () => Promise<unknown>
  /** Whether it is a transaction, which may be committed together with others. */
  readonly isTransaction: boolean
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

/** The work of a caller, and what runs it as the first of a commit: begin and commit belong to the context of that caller. */
interface WaitingJob extends Job {
  readonly run: () => Promise<void>
}

/** Runs the work of all callers on one connection, one after the other, in the order of the calls. */
export interface WriteQueue {
  /** Runs work by itself, outside a transaction. */
  alone<T>(work: () => Promise<T>): Promise<T>
  /**
   * Runs work in a transaction: keeps its rows if it resolves, rolls them back if it rejects. The caller gets the result, or the
   * error of the work, only after the commit. Fault: `ERR_STORE_UNAVAILABLE` if the transaction could not begin or commit.
   */
  inTransaction<T>(work: () => Promise<T>): Promise<T>
}

/** How long further transactions join a commit at least, in ms. Meanwhile the process answers no other request. */
const JOIN_MS = 2
/** How long they join at most, in ms: on a slow disk as long as the last commit took, because the process waits for each one. */
const MOST_JOIN_MS = 10

const SAVEPOINT = 'gatewright_transaction'

/**
 * Makes the queue. `execute` runs a statement on the connection.
 *
 * Transactions that wait at the same time share one commit, because writing to the disk is most of the work of a small one: sixteen
 * clients take a third less CPU for a new session or a pay-in (npm run bench -- host). Each but the first is a savepoint in one transaction of
 * SQLite. If one rejects, only its own rows are rolled back. A later one sees the rows of an earlier one; that is safe, because nobody
 * learns an outcome before the commit, and if the commit fails, all of them fail.
 *
 * Work starts in the turn of the event loop after its call. So requests that arrive together share a commit, and the process answers
 * others in between.
 */
export function createWriteQueue(execute: (text: string) => void): WriteQueue {
  const waiting: WaitingJob[] = []
  let running = false
  let joinMs = JOIN_MS
  const commit = (): void => {
    const startedAt = performance.now()
    execute('commit')
    joinMs = Math.min(MOST_JOIN_MS, Math.max(JOIN_MS, performance.now() - startedAt))
  }

  const runAll = async (): Promise<void> => {
    running = true
    while (waiting.length > 0) {
      await new Promise<void>(resolve => {
        if (!nextTurn(resolve)) resolve()
      })
      await (waiting.shift() as WaitingJob).run()
    }
    running = false
  }
  const enqueue = <T>(work: () => Promise<T>, isTransaction: boolean): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const job = { start: startLater(work), isTransaction, resolve: resolve as Job['resolve'], reject }
      const run = startLater(() =>
        isTransaction ? runTransactions({ execute, commit, joinMs }, job, waiting) : runAlone(job),
      )
      waiting.push({ ...job, run })
      if (!running) void runAll()
    })
  return {
    alone: work => enqueue(work, false),
    inTransaction: work => enqueue(work, true),
  }
}

/** Returns the function that starts the work. A promise keeps the async context of the caller, as an `AsyncLocalStorage` needs it. */
function startLater<T>(work: () => Promise<T>): () => Promise<T> {
  let begin = (): void => {}
  const started = new Promise<void>(resolve => {
    begin = resolve
  }).then(work)
  return () => {
    begin()
    return started
  }
}

async function runAlone({ start, resolve, reject }: Job): Promise<void> {
  try {
    resolve((await start()) as never)
  } catch (error) {
    reject(error)
  }
}

/** The connection, and how long transactions join a commit now. */
interface Connection {
  readonly execute: (text: string) => void
  readonly commit: () => void
  readonly joinMs: number
}

/** Runs a transaction and, for a short time, those that wait behind it. Commits all of them, then tells each caller its outcome. */
async function runTransactions(
  { execute, commit, joinMs }: Connection,
  first: Job,
  waiting: Job[],
): Promise<void> {
  const startedAt = performance.now()
  const jobs: Job[] = []
  const outcomes: (() => void)[] = []
  const following = (): Job | undefined =>
    waiting[0]?.isTransaction && performance.now() - startedAt < joinMs ? waiting.shift() : undefined
  let isOpen = false
  try {
    for (let job: Job | undefined = first; job; job = following()) {
      jobs.push(job)
      const { tell, isKept } = await (isOpen ? runInSavepoint : runAsFirst)(execute, job)
      isOpen ||= isKept
      outcomes.push(tell)
    }
    if (isOpen) commit()
  } catch (error) {
    rollBack(execute)
    for (const { reject } of jobs) reject(toFault('sqlite', error))
    return
  }
  for (const tell of outcomes) tell()
}

/** What became of a transaction. */
interface Ended {
  /** Tells its caller. */
  readonly tell: () => void
  /** Whether its rows are in the open transaction of SQLite. */
  readonly isKept: boolean
}

/**
 * Begins the transaction of SQLite and runs the first one in it. If that rejects, all is rolled back: a savepoint would cost a copy of each page
 * that it changes.
 */
async function runAsFirst(execute: (text: string) => void, job: Job): Promise<Ended> {
  execute('begin immediate')
  const ended = await runWork(job)
  if (!ended.isKept) rollBack(execute)
  return ended
}

/** Runs a transaction as a savepoint. Throws if the savepoint is lost. */
async function runInSavepoint(execute: (text: string) => void, job: Job): Promise<Ended> {
  execute(`savepoint ${SAVEPOINT}`)
  const ended = await runWork(job)
  if (!ended.isKept) execute(`rollback to ${SAVEPOINT}`)
  execute(`release ${SAVEPOINT}`)
  return { ...ended, isKept: true }
}

async function runWork({ start, resolve, reject }: Job): Promise<Ended> {
  try {
    const result = await start()
    return { tell: () => resolve(result as never), isKept: true }
  } catch (error) {
    return { tell: () => reject(error), isKept: false }
  }
}

function rollBack(execute: (text: string) => void): void {
  try {
    execute('rollback')
  } catch {
    // SQLite itself has rolled the transaction back.
  }
}
