import { Fault } from './fault.ts'
import { knownOptions, type OptionNames } from './options.ts'

/** Bounds of a fair queue. */
export interface FairQueueOptions {
  /** Jobs under way at once. */
  readonly atOnce: number
  /** Jobs that may wait, all classes together. `Infinity`: no bound. */
  readonly waiting: number
  /** Jobs of one class that may wait. Jobs without a class count together and are bounded by `waiting` only. */
  readonly waitingPerClass: number
  /** After this many ms of jobs, the event loop has a turn before the next job starts. 0: one job per turn. */
  readonly turnMs: number
}

const OPTIONS: OptionNames<FairQueueOptions> = {
  atOnce: true,
  waiting: true,
  waitingPerClass: true,
  turnMs: true,
}

/** What `runQueued` answers instead of running the job, because the job's class takes more than its share. */
export const REFUSED: unique symbol = Symbol('refused')

/**
 * Runs a bounded number of jobs at once, and those that wait class by class in turn. A class is whoever must not be
 * able to make the others wait, such as a client address. Its members are for the functions below alone.
 */
export interface FairQueue {
  readonly bounds: FairQueueOptions
  /** Classes with jobs that wait, the next to be served first. */
  readonly queues: Map<string | undefined, WaitingJob[]>
  queued: number
  active: number
  turnStarted: number
  inTurn: boolean
}

interface WaitingJob {
  start(): Promise<void>
  refuse(): void
}

/** Makes a fair queue. The bounds are the caller's to check. */
export function createFairQueue(bounds: FairQueueOptions): FairQueue {
  knownOptions('createFairQueue', bounds, OPTIONS)
  return { bounds, queues: new Map(), queued: 0, active: 0, turnStarted: 0, inTurn: false }
}

/** Whether `runQueued` would refuse this class now for its share alone: then spend no work on its next job. */
export function isClassFull({ queues, bounds }: FairQueue, jobClass: string | undefined): boolean {
  return jobClass !== undefined && (queues.get(jobClass)?.length ?? 0) >= bounds.waitingPerClass
}

/**
 * Runs `job(subject)` when it is its class's turn: at once, and without a promise where the job has none, when
 * nothing waits and this turn of the event loop has time left. Answers `REFUSED`, the job not started, when its class
 * has its share waiting already, or when room is needed and no class has more waiting than this one. Throws what the
 * job throws. Fault, thrown: `ERR_OVERLOADED` when everything is full of classes that have no more waiting than the
 * caller's.
 */
export function runQueued<S, T>(
  queue: FairQueue,
  jobClass: string | undefined,
  job: (subject: S) => T | Promise<T>,
  subject: S,
): T | typeof REFUSED | Promise<T | typeof REFUSED> {
  if (queue.queued > 0 || queue.active >= queue.bounds.atOnce || !hasTimeLeft(queue)) {
    return runLater(queue, jobClass, async () => job(subject))
  }
  const done = job(subject)
  if (!(done instanceof Promise)) return done
  queue.active++
  return done.finally(() => finish(queue))
}

/** Whether this turn of the event loop has time left. The first job of a turn starts its time. */
function hasTimeLeft(queue: FairQueue): boolean {
  if (queue.inTurn) return performance.now() - queue.turnStarted < queue.bounds.turnMs
  queue.inTurn = true
  queue.turnStarted = performance.now()
  setImmediate(() => {
    queue.inTurn = false
    startWaiting(queue)
  })
  return true
}

function finish(queue: FairQueue): void {
  queue.active--
  startWaiting(queue)
}

function startWaiting(queue: FairQueue): void {
  const { queues, bounds } = queue
  while (queue.queued > 0 && queue.active < bounds.atOnce && hasTimeLeft(queue)) {
    const [jobClass, jobs] = queues.entries().next().value as [string | undefined, WaitingJob[]]
    const job = jobs.shift() as WaitingJob
    queue.queued--
    queues.delete(jobClass)
    if (jobs.length > 0) queues.set(jobClass, jobs)
    queue.active++
    void job.start().finally(() => finish(queue))
  }
}

function runLater<T>(
  queue: FairQueue,
  jobClass: string | undefined,
  job: () => Promise<T>,
): typeof REFUSED | Promise<T | typeof REFUSED> {
  const { queues, bounds } = queue
  const own = queues.get(jobClass)?.length ?? 0
  if (isClassFull(queue, jobClass)) return REFUSED
  if (queue.queued >= bounds.waiting && !makeRoom(queue, own)) {
    if (own > 0) return REFUSED
    throw new Fault('ERR_OVERLOADED', 'too many jobs are waiting')
  }
  return new Promise((resolve, reject) => {
    const jobs = queues.get(jobClass) ?? []
    jobs.push({ start: () => job().then(resolve, reject), refuse: () => resolve(REFUSED) })
    queues.set(jobClass, jobs)
    queue.queued++
    startWaiting(queue)
  })
}

/** Makes room at the cost of the class with most jobs waiting; false when that is no other than the caller's. */
function makeRoom(queue: FairQueue, own: number): boolean {
  const { queues } = queue
  const [jobClass, jobs] = [...queues].reduce((most, next) => (next[1].length > most[1].length ? next : most))
  if (jobs.length <= own + 1) return false
  jobs.pop()?.refuse()
  queue.queued--
  if (jobs.length === 0) queues.delete(jobClass)
  return true
}
