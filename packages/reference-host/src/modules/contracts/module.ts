import type { HostServices, Module } from '@gatewright/host'
import { contractOperations } from './operations.ts'

/** Contracts of an account. */
export const contractsModule: Module<HostServices> = {
  operations: contractOperations,
}
