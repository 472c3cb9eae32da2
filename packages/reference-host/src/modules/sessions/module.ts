import type { HostServices, Module } from '@gatewright/host'
import type { UserStore } from '../users/store.ts'
import { createPartnerSession } from './create-for-partner.ts'
import { createUserSession } from './create.ts'
import { sessionOperations } from './list-and-end.ts'

/** What this part of the product works with. */
interface PartnerSessionsServices extends HostServices {
  readonly users: UserStore
}

/** Sessions of users. */
export const sessionsModule: Module<HostServices> = {
  operations: services => [createUserSession(services), ...sessionOperations(services)],
  commands: () => import('./commands.ts'),
}

/** Sessions that partners open for their users. */
export const partnerSessionsModule: Module<PartnerSessionsServices> = {
  operations: services => [createPartnerSession(services)],
}
