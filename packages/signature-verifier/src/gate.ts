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

/** What `runThrough` gives instead of running the job, because the job's class takes more than its share. */
export const REFUSED: unique symbol = Symbol('refused')

/** Lets a bounded number of jobs pass, class by class in turn. Its members are for the functions below alone. */
export interface Gate {
  readonly bounds: GateOptions
  /** Classes with jobs that wait, the next to be served first. */
  readonly queues: Map<string | undefined, Waiting[]>
  queued: number
  active: number
  turnStarted: number
  inTurn: boolean
}

interface Waiting {
  start(): Promise<void>
  refuse(): void
}

/** Makes a gate. */
export function createGate(bounds: GateOptions): Gate {
  return { bounds, queues: new Map(), queued: 0, active: 0, turnStarted: 0, inTurn: false }
}

/** Whether `runThrough` would refuse this class now for its share alone: then spend no work on its next job. */
export function isFull({ queues, bounds }: Gate, addressClass: string | undefined): boolean {
  return addressClass !== undefined && (queues.get(addressClass)?.length ?? 0) >= bounds.waitingPerClass
}

/**
 * Runs `job(subject)` when it is its class's turn: at once, and without a promise where the job has none, when
 * nothing waits and this turn of the event loop has time left. Gives `REFUSED`, the job not started, when its class
 * has its share waiting already, or when room is needed and no class has more waiting than this one. Throws what the
 * job throws. Fault, thrown: `ERR_OVERLOADED` when everything is full of classes that have no more waiting than the
 * caller's.
 */
export function runThrough<S, T>(
  gate: Gate,
  addressClass: string | undefined,
  job: (subject: S) => T | Promise<T>,
  subject: S,
): T | typeof REFUSED | Promise<T | typeof REFUSED> {
  if (gate.queued > 0 || gate.active >= gate.bounds.atOnce || !timeLeft(gate)) {
    return runLater(gate, addressClass, async () => job(subject))
  }
  const done = job(subject)
  if (!(done instanceof Promise)) return done
  gate.active++
  return done.finally(() => leave(gate))
}

/** Whether this turn of the event loop has time left. The first job of a turn opens it. */
function timeLeft(gate: Gate): boolean {
  if (gate.inTurn) return performance.now() - gate.turnStarted < gate.bounds.turnMs
  gate.inTurn = true
  gate.turnStarted = performance.now()
  setImmediate(() => {
    gate.inTurn = false
    pump(gate)
  })
  return true
}

function leave(gate: Gate): void {
  gate.active--
  pump(gate)
}

function pump(gate: Gate): void {
  const { queues, bounds } = gate
  while (gate.queued > 0 && gate.active < bounds.atOnce && timeLeft(gate)) {
    const [addressClass, jobs] = queues.entries().next().value as [string | undefined, Waiting[]]
    const job = jobs.shift() as Waiting
    gate.queued--
    queues.delete(addressClass)
    if (jobs.length > 0) queues.set(addressClass, jobs)
    gate.active++
    void job.start().finally(() => leave(gate))
  }
}

function runLater<T>(
  gate: Gate,
  addressClass: string | undefined,
  job: () => Promise<T>,
): typeof REFUSED | Promise<T | typeof REFUSED> {
  const { queues, bounds } = gate
  const own = queues.get(addressClass)?.length ?? 0
  if (isFull(gate, addressClass)) return REFUSED
  if (gate.queued >= bounds.waiting && !makeRoom(gate, own)) {
    if (own > 0) return REFUSED
    throw new Fault('ERR_OVERLOADED', 'too many jobs are waiting')
  }
  return new Promise((resolve, reject) => {
    const jobs = queues.get(addressClass) ?? []
    jobs.push({ start: () => job().then(resolve, reject), refuse: () => resolve(REFUSED) })
    queues.set(addressClass, jobs)
    gate.queued++
    pump(gate)
  })
}

/** Makes room at the cost of the class with most jobs waiting; false when that is no other than the caller's. */
function makeRoom(gate: Gate, own: number): boolean {
  const { queues } = gate
  const [addressClass, jobs] = [...queues].reduce((most, next) =>
    next[1].length > most[1].length ? next : most,
  )
  if (jobs.length <= own + 1) return false
  jobs.pop()?.refuse()
  gate.queued--
  if (jobs.length === 0) queues.delete(addressClass)
  return true
}
