import type { HostServices, Module } from '@gatewright/host'
import { accessConfiguration } from './configuration.ts'
import { evaluateAccess } from './evaluate.ts'

/** What a key may do, and the operations that there are. */
export const accessModule: Module<HostServices> = {
  operations: services => [evaluateAccess(services), accessConfiguration(services)],
}
