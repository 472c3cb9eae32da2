/** What a process of the simulation does next: let time pass, or wait until a resource has room. */
export type Step = { readonly wait: number } | { readonly acquire: Resource }

/** A process of the simulation, such as one request. It yields its steps and releases what it has acquired. */
export type Process = Generator<Step, void, void>

/** Something that so many processes can have at once, such as cores, connections or a lock. Others wait in order. */
export interface Resource {
  release(): void
  /** How long it was in use, on average over its units, in ms since the last `reset`. */
  busyMs(): number
  /** Whether a process that acquired it now would wait. */
  isFull(): boolean
  /** Starts to count anew. */
  reset(): void
}

interface Waiting extends Resource {
  request(resume: () => void): void
}

/** Runs processes in simulated time. */
export interface Engine {
  /** Milliseconds since the start. */
  now(): number
  start(process: Process): void
  resource(units: number): Resource
  /** Runs until this time, or until nothing is left to do. */
  runUntil(ms: number): void
}

/** Creates an engine whose time is 0. Events of one time run in the order in which they were scheduled. */
export function createEngine(): Engine {
  const events = eventQueue()
  let now = 0
  let order = 0
  const resume = (process: Process): void => {
    const { done, value } = process.next()
    if (done) return
    if ('wait' in value) events.push({ at: now + value.wait, order: order++, run: () => resume(process) })
    else (value.acquire as Waiting).request(() => resume(process))
  }
  return {
    now: () => now,
    start: resume,
    resource: units => createResource(units, () => now),
    runUntil(ms) {
      for (let next = events.first(); next && next.at <= ms; next = events.first()) {
        events.removeFirst()
        now = next.at
        next.run()
      }
      now = Math.max(now, ms)
    },
  }
}

function createResource(units: number, clock: () => number): Waiting {
  const waiting: (() => void)[] = []
  let next = 0
  let used = 0
  let since = 0
  let busy = 0
  const count = (change: number): void => {
    busy += used * (clock() - since)
    since = clock()
    used += change
  }
  return {
    request(resume) {
      if (used === units) return void waiting.push(resume)
      count(1)
      resume()
    },
    release() {
      const resume = waiting[next]
      if (!resume) return count(-1)
      next += 1
      // Removing each one from the front would move all others.
      if (next === 1024) {
        waiting.splice(0, next)
        next = 0
      }
      resume()
    },
    busyMs() {
      count(0)
      return busy / units
    },
    isFull: () => used === units,
    reset() {
      count(0)
      busy = 0
    },
  }
}

interface Event {
  readonly at: number
  readonly order: number
  readonly run: () => void
}

/** A binary heap: the earliest event first. */
function eventQueue() {
  const heap: Event[] = []
  const isBefore = (one: Event, other: Event): boolean =>
    one.at < other.at || (one.at === other.at && one.order < other.order)
  const swap = (one: number, other: number): void => {
    const kept = heap[one] as Event
    heap[one] = heap[other] as Event
    heap[other] = kept
  }
  return {
    first: () => heap[0],
    push(event: Event): void {
      let at = heap.push(event) - 1
      while (at > 0) {
        const parent = (at - 1) >> 1
        if (isBefore(heap[parent] as Event, heap[at] as Event)) return
        swap(at, parent)
        at = parent
      }
    },
    removeFirst(): void {
      const last = heap.pop()
      if (!last || heap.length === 0) return
      heap[0] = last
      for (let at = 0; ; ) {
        let least = at
        for (const child of [2 * at + 1, 2 * at + 2])
          if (child < heap.length && isBefore(heap[child] as Event, heap[least] as Event)) least = child
        if (least === at) return
        swap(at, least)
        at = least
      }
    },
  }
}
