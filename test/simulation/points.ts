import { readFileSync } from 'node:fs'
import { simulate, type Costs, type Outcome, type Setting } from './simulate.ts'

/** CPU in ms a second, as `npm run bench -- scale` measures it. */
interface Cpu {
  readonly client: number
  readonly hosts: number
  readonly postgres: number
}

/** Payments that were measured with so many hosts on one machine. */
export interface Point {
  readonly hosts: number
  readonly arrivals: { readonly perSecond: number } | { readonly clients: number; readonly accounts: number }
  readonly cpu: Cpu
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
}

interface Measured {
  readonly at: string
  readonly machine: string
  readonly cores: number
  /** The payers, unless an arrival names another number. */
  readonly accounts: number
  /** What a payment costs, calibrated with the points of one host. */
  readonly costs: Costs
  readonly points: readonly Point[]
}

/** What was measured on one machine, and the costs that follow from its runs with one host. */
export const MEASURED: Measured = JSON.parse(
  readFileSync(new URL('../../../test/simulation/points.json', import.meta.url), 'utf8'),
) as Measured

/** The connections that a host opens to Postgres. */
export const CONNECTIONS = 10

/** A measured point and what the simulation of its setting gives. */
export interface SimulatedPoint {
  readonly point: Point
  readonly outcome: Outcome
}

/** Whether one account makes all payments of a point. */
export const isOnePayer = ({ arrivals }: Pick<Point, 'arrivals'>): boolean =>
  'accounts' in arrivals && arrivals.accounts === 1

/** How requests arrive, in a few words. */
export function nameOf(arrivals: Point['arrivals']): string {
  if ('perSecond' in arrivals) return `${arrivals.perSecond} a second`
  return `${arrivals.clients} clients, ${arrivals.accounts} payer${arrivals.accounts === 1 ? '' : 's'}`
}

/** Simulates a measured point: one machine runs the client, the hosts and the database. */
export function simulatePoint({ hosts, arrivals }: Pick<Point, 'hosts' | 'arrivals'>): Outcome {
  const setting: Setting = {
    hosts,
    connections: CONNECTIONS,
    databases: 1,
    // Each connection has a process, and the cores of the machine bound them all.
    coresPerDatabase: hosts * CONNECTIONS,
    sharedCores: MEASURED.cores,
    accounts: 'accounts' in arrivals ? arrivals.accounts : MEASURED.accounts,
    arrivals:
      'clients' in arrivals
        ? { kind: 'clients', clients: arrivals.clients }
        : { kind: 'even', perSecond: arrivals.perSecond },
    warmUpMs: 1000,
    measuredMs: 8000,
    seed: 42,
  }
  return simulate(MEASURED.costs, setting)
}
