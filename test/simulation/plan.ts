import { CONNECTIONS, MEASURED } from './points.ts'
import { simulate, type Costs, type Outcome, type Setting } from './simulate.ts'

/** One size of the plan in docs/scale.md. Each host has a core, each database cores of its own. */
export interface Size {
  readonly perSecond: number
  readonly hosts: number
  readonly databases: number
  readonly coresPerDatabase: number
}

/** The sizes of the plan: hosts are at most about 60 % busy, databases about 50 %. */
export const SIZES: readonly Size[] = [
  { perSecond: 1_000, hosts: 4, databases: 1, coresPerDatabase: 4 },
  { perSecond: 10_000, hosts: 36, databases: 4, coresPerDatabase: 8 },
  { perSecond: 100_000, hosts: 360, databases: 40, coresPerDatabase: 8 },
]

/** Assumed, not measured: machines of one data centre, and disks that acknowledge a flush of the log in half a millisecond. */
const COSTS: Costs = { ...MEASURED.costs, client: 0, networkMs: 0.3, commitMs: 0.5 }

const settingOf = ({ perSecond, ...machines }: Size): Setting => ({
  ...machines,
  connections: CONNECTIONS,
  accounts: 1_000_000,
  arrivals: { kind: 'random', perSecond },
  warmUpMs: perSecond > 50_000 ? 200 : 1000,
  // About as many payments for each size, and at least a quarter of a second.
  measuredMs: Math.max(250, 20_000_000 / perSecond),
  seed: 7,
})

/** Simulates payments between a million accounts, all alike, on machines of their own. */
export function simulateSize(size: Size): Outcome {
  return simulate(COSTS, settingOf(size))
}

/** Payments a second of one account that pays as fast as its lock allows, on the machines of a size. */
export function simulateHotAccount(size: Size): Outcome {
  const arrivals = { kind: 'clients', clients: 64 } as const
  return simulate(COSTS, {
    ...settingOf(size),
    accounts: size.databases,
    hotShare: 1,
    arrivals,
    measuredMs: 10_000,
  })
}
