import type { HostServices, Module } from '@gatewright/host'
import { billOperations } from './operations.ts'

/** Bills that an account pays. */
export const billsModule: Module<HostServices> = {
  operations: billOperations,
}
