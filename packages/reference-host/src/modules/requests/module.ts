import type { HostServices, Module } from '@gatewright/host'
import { requestOperations } from './operations.ts'

/** Requests that are kept, and why they were denied. */
export const requestsModule: Module<HostServices> = {
  operations: requestOperations,
  commands: () => import('./commands.ts'),
}
