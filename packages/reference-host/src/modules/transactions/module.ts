import type { HostServices, Module } from '@gatewright/host'
import { transactionOperations } from './list.ts'

/** Transactions of an account. */
export const transactionsModule: Module<HostServices> = {
  operations: transactionOperations,
}
