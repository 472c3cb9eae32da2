import type { HostServices, Module } from '@gatewright/host'
import { balanceOperations } from './read.ts'

/** The money that an account has. */
export const balancesModule: Module<HostServices> = {
  operations: balanceOperations,
}
