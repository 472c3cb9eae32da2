import type { HostServices, Module } from '@gatewright/host'
import type { Config } from '../../config/config.ts'
import type { Providers } from '../../providers/ports.ts'
import { collectDeclined } from './authorizations/collect.ts'
import { authorizationEvents } from './authorizations/events.ts'
import { authorizationOperations } from './authorizations/operations.ts'
import type { Authorizations } from './authorizations/service.ts'
import type { CardKeyPolicies } from './key-policies.ts'
import { cardOperations } from './operations.ts'

const DAY_MS = 86_400_000

/** What this part of the product works with. */
interface CardsServices extends HostServices {
  readonly cardKeyPolicies: CardKeyPolicies
  readonly authorizations: Authorizations
  readonly config: Config
  readonly providers: Providers
}

/** Cards, and the payments with them that the network asks about. */
export const cardsModule: Module<CardsServices> = {
  operations: services => [...authorizationOperations(services), ...cardOperations(services)],
  collectors: ({ db, clock, config }) => [
    limit => collectDeclined(db, limit, clock.now() - config.declinedAuthorizationDays * DAY_MS),
  ],
  providerEvents: authorizationEvents,
  commands: () => import('./commands.ts'),
}
