import { createEngine, type Engine, type Process, type Resource } from './engine.ts'
import { createRecorder, type Recorded, type Recorder } from './recorder.ts'
import { seededRandom, type Random } from './random.ts'

/** How requests arrive: at random times or at equal distances, whether or not others are done; or by clients that wait. */
export type Arrivals =
  | { readonly kind: 'random' | 'even'; readonly perSecond: number }
  | { readonly kind: 'clients'; readonly clients: number }

/** What one payment costs. Times are in ms of CPU, unless the name says otherwise. */
export interface Costs {
  /** What the client of a bench uses; 0 where the clients have machines of their own. */
  readonly client: number
  /** What a host uses, in equal parts before, between and after the round trips. */
  readonly host: number
  /** What a host uses in addition for each part that it was not running before: its caches are cold, and nothing shares its turn. */
  readonly hostWake: number
  /** What the database uses, in equal parts for each round trip. */
  readonly database: number
  readonly roundTrips: number
  /** From which round trip, counted from 1, the lock of the payer is held. The last one commits. */
  readonly lockedFrom: number
  /** Until the log is on disk. No CPU. */
  readonly commitMs: number
  /** From one machine to another and back. No CPU. */
  readonly networkMs: number
  /** What each resting host uses in a second, and what it makes the databases use. */
  readonly restingHost: number
  readonly restingDatabase: number
}

/** The machines, the accounts and the load of one run. */
export interface Setting {
  readonly hosts: number
  /** Connections of each host to each database. */
  readonly connections: number
  readonly databases: number
  readonly coresPerDatabase: number
  /** One machine of so many cores runs everything. Otherwise each host has a core of its own. */
  readonly sharedCores?: number
  /** Payers. The account is on database `account % databases`. */
  readonly accounts: number
  /** Which share of the payments comes from account 0, in addition to its own. */
  readonly hotShare?: number
  readonly arrivals: Arrivals
  readonly warmUpMs: number
  readonly measuredMs: number
  readonly seed: number
}

/** What came of a run. Utilizations are of the measured time, from 0 to 1. */
export interface Outcome extends Recorded {
  readonly hostUtilization: number
  readonly databaseUtilization: number
  /** Of the machine that runs everything, or NaN. */
  readonly machineUtilization: number
  /** Of the lock of account 0. */
  readonly hotUtilization: number
}

/** What has CPU: a host's thread, a database's cores. */
interface Part {
  /** Held by what runs, and by what waits for a core of the shared machine. */
  readonly units: Resource
  /** Held by what runs. */
  readonly running: Resource
}

interface Host {
  readonly thread: Part
  /** To each database. */
  readonly connections: readonly Resource[]
}

/** What a payment runs on. */
interface World {
  readonly hosts: readonly Host[]
  readonly databases: readonly Part[]
  readonly client: Part
  /** The cores of the one machine that runs everything. */
  readonly shared: Resource | undefined
  readonly lockOf: (account: number) => Resource
  readonly random: Random
  readonly costs: Costs
}

/** Half of a service time is always the same, half is exponential. */
const around = (mean: number, random: Random): number =>
  mean === 0 ? 0 : mean / 2 + random.exponential(mean / 2)

/** Uses CPU of a part, and a core of the machine if it runs everything. */
function* use(part: Part, mean: number, world: World): Process {
  const wait = around(mean, world.random)
  if (wait === 0) return
  yield { acquire: part.units }
  if (world.shared) yield { acquire: world.shared }
  yield { acquire: part.running }
  yield { wait }
  part.running.release()
  world.shared?.release()
  part.units.release()
}

/** One part of a host's work. A host that is not running must be woken first. */
function* useHost({ thread }: Host, world: World): Process {
  const { host, hostWake, roundTrips } = world.costs
  yield* use(thread, host / (roundTrips + 1) + (thread.running.isFull() ? 0 : hostWake), world)
}

interface Payment {
  readonly host: Host
  readonly payer: number
  readonly payee: number
}

/**
 * One payment. The payer's lock is held until the commit. If the payee's account is on another database, that one writes its leg and
 * prepares to commit while the lock is held: one more round trip between the databases, and one more log on disk (two-phase commit).
 */
function* pay({ host, payer, payee }: Payment, world: World): Process {
  const { costs, databases, client } = world
  const lock = world.lockOf(payer)
  const own = payer % databases.length
  const other = payee % databases.length
  const database = databases[own] as Part
  const connections = host.connections[own] as Resource
  yield* use(client, costs.client / 2, world)
  yield* useHost(host, world)
  yield { acquire: connections }
  for (let trip = 1; trip <= costs.roundTrips; trip++) {
    yield { wait: costs.networkMs }
    if (trip === costs.lockedFrom) yield { acquire: lock }
    yield* use(database, costs.database / costs.roundTrips, world)
    if (trip === costs.roundTrips) {
      if (other !== own) {
        yield { wait: costs.networkMs }
        yield* use(databases[other] as Part, costs.database / costs.roundTrips, world)
        yield { wait: costs.commitMs }
      }
      yield { wait: costs.commitMs }
      lock.release()
      connections.release()
    }
    yield* useHost(host, world)
  }
  yield* use(client, costs.client / 2, world)
}

/** What a resting host does, in ten small parts a second. */
function* rest(host: Host, world: World): Process {
  const { costs, databases, random } = world
  for (;;) {
    yield { wait: random.exponential(100) }
    yield* use(host.thread, costs.restingHost / 10, world)
    const database = databases[random.integer(databases.length)] as Part
    yield* use(database, costs.restingDatabase / 10, world)
  }
}

/** Makes the machines of a setting. */
function createWorld(costs: Costs, setting: Setting, engine: Engine): World {
  const resources = (count: number, units: number): Resource[] =>
    Array.from({ length: count }, () => engine.resource(units))
  const part = (units: number): Part => ({ units: engine.resource(units), running: engine.resource(units) })
  const locks = new Map<number, Resource>()
  return {
    hosts: Array.from({ length: setting.hosts }, (): Host => {
      return { thread: part(1), connections: resources(setting.databases, setting.connections) }
    }),
    databases: Array.from({ length: setting.databases }, () => part(setting.coresPerDatabase)),
    client: part(1),
    shared: setting.sharedCores === undefined ? undefined : engine.resource(setting.sharedCores),
    lockOf(account) {
      const lock = locks.get(account) ?? engine.resource(1)
      locks.set(account, lock)
      return lock
    },
    random: seededRandom(setting.seed),
    costs,
  }
}

/** Starts the payments of a setting. */
function startPayments(
  engine: Engine,
  world: World,
  { accounts, arrivals, hotShare = 0 }: Setting,
  recorder: Recorder,
): void {
  const { hosts, databases, random } = world
  let next = 0
  function* request(): Process {
    const payer = random.share() < hotShare ? 0 : random.integer(accounts)
    // Any other account.
    const payee = accounts === 1 ? 1 : (payer + 1 + random.integer(accounts - 1)) % accounts
    const host = hosts[next++ % hosts.length] as Host
    const arrivedAt = recorder.arrive()
    yield* pay({ host, payer, payee }, world)
    recorder.complete(arrivedAt, payer % databases.length !== payee % databases.length)
  }
  function* client(): Process {
    for (;;) yield* request()
  }
  function* open(gap: () => number): Process {
    for (;;) {
      engine.start(request())
      yield { wait: gap() }
    }
  }
  if (arrivals.kind === 'clients') {
    for (let count = 0; count < arrivals.clients; count++) engine.start(client())
    return
  }
  const mean = 1000 / arrivals.perSecond
  engine.start(open(arrivals.kind === 'even' ? () => mean : () => random.exponential(mean)))
}

/** Runs payments on machines in simulated time. The same setting gives the same outcome. */
export function simulate(costs: Costs, setting: Setting): Outcome {
  const engine = createEngine()
  const recorder = createRecorder(engine)
  const world = createWorld(costs, setting, engine)
  const { hosts, databases, shared, lockOf } = world
  for (const host of hosts) engine.start(rest(host, world))
  startPayments(engine, world, setting, recorder)
  const threads = hosts.map(({ thread }) => thread.running)
  const cores = databases.map(({ running }) => running)
  engine.runUntil(setting.warmUpMs)
  for (const resource of [...threads, ...cores, lockOf(0), ...(shared ? [shared] : [])]) resource.reset()
  recorder.measure()
  engine.runUntil(setting.warmUpMs + setting.measuredMs)
  const utilization = (of: readonly Resource[]): number =>
    of.reduce((sum, resource) => sum + resource.busyMs(), 0) / of.length / setting.measuredMs
  return {
    ...recorder.end(),
    hostUtilization: utilization(threads),
    databaseUtilization: utilization(cores),
    machineUtilization: shared ? utilization([shared]) : Number.NaN,
    hotUtilization: utilization([lockOf(0)]),
  }
}
