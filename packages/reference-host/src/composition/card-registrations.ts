import { authorizations, type Authorizations } from '../modules/cards/authorizations/service.ts'
import { authorizationStore, type AuthorizationStore } from '../modules/cards/authorizations/store.ts'
import { defineService, type ServiceKey } from './container.ts'
import {
  BACKEND,
  CARDS,
  EVENTS,
  GUARD,
  ISSUER,
  LEDGER,
  METRICS,
  MONEY,
  TRANSACTIONS,
} from './registrations.ts'

export const AUTHORIZATION_STORE: ServiceKey<AuthorizationStore> = defineService('authorization store', get =>
  authorizationStore(get(BACKEND).dialect),
)
export const AUTHORIZATIONS: ServiceKey<Authorizations> = defineService('authorizations', get =>
  authorizations({
    ...{ store: get(AUTHORIZATION_STORE), cards: get(CARDS), issuer: get(ISSUER), guard: get(GUARD) },
    ...{ ledger: get(LEDGER), money: get(MONEY), transactions: get(TRANSACTIONS), events: get(EVENTS) },
    spendStorage: get(BACKEND).spend,
    count: (outcome, reason) => get(METRICS).authorization(outcome, reason),
  }),
)
