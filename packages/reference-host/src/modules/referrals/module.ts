import type { HostServices, Module } from '@gatewright/host'
import { referralOperations } from './operations.ts'

/** Referrals. */
export const referralsModule: Module<HostServices> = {
  operations: referralOperations,
}
