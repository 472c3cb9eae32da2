import type { OpsHosts } from './hosts.ts'
import type { ClusterPrograms } from './programs.ts'

/** Something that goes wrong while hosts serve writes. */
export interface Fault {
  readonly name: string
  /** Makes it happen, and resolves when it is over: what was killed runs again. */
  act(hosts: OpsHosts): Promise<void>
  /**
   * Which acknowledged writes may be lost. Default: none. `newest`: those that were acknowledged in the last seconds before the fault.
   * `any`: the row shows a setting that the documentation warns of.
   */
  readonly mayLose?: 'newest' | 'any'
  /** Whether the row shows hosts whose readiness is known to be wrong, as the documentation says. */
  readonly wrongReadiness?: boolean
}

/** Stores on which faults are tried, one after the other. */
export interface Stage {
  readonly name: string
  readonly faults: readonly string[]
  /** Starts the stores in an empty folder. */
  open(folder: string, programs: ClusterPrograms): Promise<OpenStage>
}

/** Stores that run. */
export interface OpenStage {
  /** How many hosts run on them. Default: 2. */
  readonly hostCount?: number
  readonly faults: readonly Fault[]
  /** The environment of hosts on an empty database. */
  emptyDatabase(): Promise<Readonly<Record<string, string>>>
  /** Waits until the stores are complete. */
  settled(): Promise<void>
  stop(): Promise<void>
}
