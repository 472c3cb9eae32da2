import type { HostServices, Module } from '@gatewright/host'
import type { UserStore } from '../users/store.ts'
import { denyDataKey } from './data-key.ts'
import { identityOperations } from './operations.ts'

/** What this part of the product works with. */
interface IdentityServices extends HostServices {
  readonly users: UserStore
}

/** Who the caller is. */
export const identityModule: Module<IdentityServices> = {
  operations: services => [...identityOperations(services), ...denyDataKey()],
}
