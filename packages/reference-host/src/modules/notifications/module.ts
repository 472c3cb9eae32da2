import type { HostServices, Module } from '@gatewright/host'
import { notificationOperations } from './operations.ts'

/** What users are told. */
export const notificationsModule: Module<HostServices> = {
  operations: notificationOperations,
}
