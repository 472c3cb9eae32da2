import { Fault } from '@gatewright/kernel'

/** Bounds of a gate. */
export interface GateOptions {
  /** Jobs under way at once. */
  readonly atOnce: number
  /** Jobs that may wait, all classes together. */
  readonly waiting: number
  /** Jobs of one class that may wait. Jobs without a class count together and have the whole room. */
  readonly waitingPerClass: number
  /** After this many ms of jobs, the event loop has a turn before the next job starts. */
  readonly turnMs: number
}

/** What `run` resolves with instead of running the job, because the job's class takes more than its share. */
export const REFUSED: unique symbol = Symbol('refused')

/** Lets a bounded number of jobs pass, class by class in turn. */
export interface Gate {
  /**
   * Runs `job` when it is its class's turn: at once, and without a promise where the job has none, when nothing waits
   * and this turn of the event loop has time left. Gives `REFUSED`, the job not started, when its class has its share
   * waiting already, or when room is needed and no class has more waiting than this one. Throws what the job throws.
   * Fault, thrown: `ERR_OVERLOADED` when everything is full of classes that have no more waiting than the caller's.
   */
  run<T>(
    addressClass: string | undefined,
    job: () => T | Promise<T>,
  ): T | typeof REFUSED | Promise<T | typeof REFUSED>

  /** Whether `run` would refuse this class now for its share alone, so that no work is spent on its next job. */
  isFull(addressClass: string | undefined): boolean
}

interface Waiting {
  start(): Promise<void>
  refuse(): void
}

/** Makes a gate. */
export function createGate({ atOnce, waiting, waitingPerClass, turnMs }: GateOptions): Gate {
  /** Classes with jobs that wait, the next to be served first. */
  const queues = new Map<string | undefined, Waiting[]>()
  let queued = 0
  let active = 0
  let turnStarted = 0
  let inTurn = false

  /** Whether this turn of the event loop has time left. The first job of a turn opens it. */
  const timeLeft = (): boolean => {
    if (inTurn) return performance.now() - turnStarted < turnMs
    inTurn = true
    turnStarted = performance.now()
    setImmediate(() => {
      inTurn = false
      pump()
    })
    return true
  }

  const pump = (): void => {
    while (queued > 0 && active < atOnce && timeLeft()) {
      const [addressClass, jobs] = queues.entries().next().value as [string | undefined, Waiting[]]
      const job = jobs.shift() as Waiting
      queued--
      queues.delete(addressClass)
      if (jobs.length > 0) queues.set(addressClass, jobs)
      active++
      void job.start().finally(leave)
    }
  }

  const leave = (): void => {
    active--
    pump()
  }

  /** Runs a job that need not wait. */
  const straight = <T>(job: () => T | Promise<T>): T | Promise<T> => {
    let waits = false
    active++
    try {
      const done = job()
      waits = done instanceof Promise
      return done instanceof Promise ? done.finally(leave) : done
    } finally {
      if (!waits) leave()
    }
  }

  /** Makes room at the cost of the class with most jobs waiting; false when that is no other than the caller's. */
  const makeRoom = (own: number): boolean => {
    const [addressClass, jobs] = [...queues].reduce((most, next) =>
      next[1].length > most[1].length ? next : most,
    )
    if (jobs.length <= own + 1) return false
    jobs.pop()?.refuse()
    queued--
    if (jobs.length === 0) queues.delete(addressClass)
    return true
  }

  const isFull = (addressClass: string | undefined): boolean =>
    addressClass !== undefined && (queues.get(addressClass)?.length ?? 0) >= waitingPerClass

  return {
    isFull,
    run<T>(addressClass: string | undefined, job: () => T | Promise<T>) {
      if (queued === 0 && active < atOnce && timeLeft()) return straight(job)
      const own = queues.get(addressClass)?.length ?? 0
      if (isFull(addressClass)) return REFUSED
      if (queued >= waiting && !makeRoom(own)) {
        if (own > 0) return REFUSED
        throw new Fault('ERR_OVERLOADED', 'too many jobs are waiting')
      }
      return new Promise<T | typeof REFUSED>((resolve, reject) => {
        const jobs = queues.get(addressClass) ?? []
        const start = async (): Promise<T> => job()
        jobs.push({ start: () => start().then(resolve, reject), refuse: () => resolve(REFUSED) })
        queues.set(addressClass, jobs)
        queued++
        pump()
      })
    },
  }
}
