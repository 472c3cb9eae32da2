import { nextTurn } from '#platform'
import { Fault } from './fault.ts'
import { checkOptions } from './options.ts'

/** Limits of a fair queue. */
export interface FairQueueOptions {
  /** Jobs that may run at once. */
  readonly atOnce: number
  /** Jobs that may wait, all classes together. `Infinity`: no limit. */
  readonly waiting: number
  /** Jobs of one class that may wait. Jobs without a class form one class, which only `waiting` limits. */
  readonly waitingPerClass: number
  /** How many ms of jobs may start in one turn of the event loop. 0: one job per turn. `Infinity`: no limit. */
  readonly turnMs: number
}

/** What `runQueued` returns instead of running the job, when too many jobs of its class are waiting. */
export const QUEUE_FULL: unique symbol = Symbol('queue full')

/**
 * State of a queue that runs a limited number of jobs at once and serves waiting classes in turn. A class is a client,
 * such as an address, that must not be able to make the others wait. Only the functions of this file use the members.
 */
export interface FairQueue {
  readonly bounds: FairQueueOptions
  /** Waiting jobs by class, the class that is served next first. */
  readonly queues: Map<string | undefined, WaitingJob[]>
  queued: number
  active: number
  turnStarted: number
  inTurn: boolean
}

interface WaitingJob {
  start(): Promise<void>
  evict(): void
}

/** Makes a fair queue. It does not check the ranges of its limits: the caller does. */
export function createFairQueue(bounds: FairQueueOptions): FairQueue {
  checkOptions('createFairQueue', bounds, {
    atOnce: true,
    waiting: true,
    waitingPerClass: true,
    turnMs: true,
  })
  return { bounds, queues: new Map(), queued: 0, active: 0, turnStarted: 0, inTurn: false }
}

/** Whether `runQueued` would return `QUEUE_FULL` for this class because `waitingPerClass` of its jobs wait. */
export function isClassFull({ queues, bounds }: FairQueue, jobClass: string | undefined): boolean {
  return jobClass !== undefined && (queues.get(jobClass)?.length ?? 0) >= bounds.waitingPerClass
}

/**
 * Runs `job(subject)` when its class is served. If nothing waits and this turn of the event loop has time left, the job
 * runs immediately; if it returns no promise, this function returns no promise either.
 *
 * When the queue is full, the newest job of the class with the most waiting jobs is evicted: its promise resolves to
 * `QUEUE_FULL`. Returns `QUEUE_FULL`, without starting the job, if `waitingPerClass` jobs of its class wait, or if the
 * queue is full and no class has more waiting jobs than this one would have. Throws what the job throws. Fault, thrown:
 * `ERR_OVERLOADED` if the queue is full, this class has no waiting job and no other class has more than one.
 */
export function runQueued<S, T>(
  queue: FairQueue,
  jobClass: string | undefined,
  job: (subject: S) => T | Promise<T>,
  subject: S,
): T | typeof QUEUE_FULL | Promise<T | typeof QUEUE_FULL> {
  if (queue.queued > 0 || queue.active >= queue.bounds.atOnce || !hasTimeLeft(queue)) {
    return runLater(queue, jobClass, async () => job(subject))
  }
  const done = job(subject)
  if (!(done instanceof Promise)) return done
  queue.active++
  return done.finally(() => finish(queue))
}

/**
 * Whether this turn of the event loop has time left. The time starts with the first job of a turn. Always true on
 * runtimes without a next turn, where turns cannot be distinguished.
 */
function hasTimeLeft(queue: FairQueue): boolean {
  if (queue.bounds.turnMs === Infinity) return true
  if (queue.inTurn) return performance.now() - queue.turnStarted < queue.bounds.turnMs
  queue.inTurn = nextTurn(() => {
    queue.inTurn = false
    startWaiting(queue)
  })
  queue.turnStarted = performance.now()
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
): typeof QUEUE_FULL | Promise<T | typeof QUEUE_FULL> {
  const { queues, bounds } = queue
  const own = queues.get(jobClass)?.length ?? 0
  if (isClassFull(queue, jobClass)) return QUEUE_FULL
  if (queue.queued >= bounds.waiting && !evictNewestOfLargest(queue, own)) {
    if (own > 0) return QUEUE_FULL
    throw new Fault('ERR_OVERLOADED', 'too many jobs are waiting')
  }
  return new Promise((resolve, reject) => {
    const jobs = queues.get(jobClass) ?? []
    jobs.push({ start: () => job().then(resolve, reject), evict: () => resolve(QUEUE_FULL) })
    queues.set(jobClass, jobs)
    queue.queued++
    startWaiting(queue)
  })
}

/** Evicts the newest job of the class with the most waiting jobs. False if the caller's class would then have the most. */
function evictNewestOfLargest(queue: FairQueue, own: number): boolean {
  const { queues } = queue
  const [jobClass, jobs] = [...queues].reduce((most, next) => (next[1].length > most[1].length ? next : most))
  if (jobs.length <= own + 1) return false
  jobs.pop()?.evict()
  queue.queued--
  if (jobs.length === 0) queues.delete(jobClass)
  return true
}
