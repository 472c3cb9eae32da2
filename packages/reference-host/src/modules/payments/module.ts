import type { HostServices, Module } from '@gatewright/host'
import type { UserStore } from '../users/store.ts'
import { paymentOperations } from './operations.ts'

/** What this part of the product works with. */
interface PaymentsServices extends HostServices {
  readonly users: UserStore
}

/** Payments between accounts. */
export const paymentsModule: Module<PaymentsServices> = {
  operations: paymentOperations,
}
