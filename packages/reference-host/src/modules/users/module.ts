import type { HostServices, Module } from '@gatewright/host'
import type { AgreementAcceptances } from '../agreement-acceptances.ts'
import { userOperations } from './operations.ts'
import { resolveUser, type SeedCards } from './resolve.ts'
import type { UserStore } from './store.ts'

/** What this part of the product works with. */
interface UsersServices extends HostServices {
  readonly users: UserStore
  readonly acceptances: AgreementAcceptances
}

/** What this part of the product works with. */
interface PartnerUsersServices extends HostServices {
  readonly users: UserStore
  readonly seedCards: SeedCards
  readonly acceptances: AgreementAcceptances
}

/** The profile of a user. */
export const usersModule: Module<UsersServices> = {
  operations: userOperations,
}

/** Users of partners, and what an operator does with users. */
export const partnerUsersModule: Module<PartnerUsersServices> = {
  operations: services => [resolveUser(services)],
  commands: () => import('./commands.ts'),
}
