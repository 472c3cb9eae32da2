import type { HostServices, Module } from '@gatewright/host'
import { approvalOperations } from './operations.ts'

/** Payments that wait for the owner of the account. */
export const approvalsModule: Module<HostServices> = {
  operations: approvalOperations,
}
