import { bootstrap } from './modules/auth/bootstrap.ts'
import { listCards } from './modules/cards/list.ts'
import type { ModuleServices } from './modules/services.ts'
import { createPartnerSession } from './modules/sessions/partner.ts'
import { createUserSession } from './modules/sessions/user.ts'
import { createPayin } from './modules/subscriptions/payin.ts'
import { healthz, jwks } from './modules/system/operations.ts'
import { resolveUser } from './modules/users/resolve.ts'
import type { Operation } from './server/operation.ts'

/** The operation table: everything the host serves. Routes and rules are made from it. */
export function operations(services: ModuleServices): readonly Operation[] {
  return [
    bootstrap(services),
    createUserSession(services),
    resolveUser(services),
    createPartnerSession(services),
    createPayin(services),
    listCards(services),
    jwks(services),
    healthz(),
  ]
}
