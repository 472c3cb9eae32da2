import { checkTable } from '../http/operation-table.ts'
import type { Operation } from '../http/operation.ts'
import { bootstrap } from '../modules/auth/bootstrap.ts'
import { readBalances } from '../modules/balances/read.ts'
import { listCards } from '../modules/cards/list.ts'
import { sandboxDeposit } from '../modules/deposits/sandbox.ts'
import { keyOperations } from '../modules/keys/operations.ts'
import type { ModuleServices } from '../modules/services.ts'
import { createPartnerSession } from '../modules/sessions/create-for-partner.ts'
import { createUserSession } from '../modules/sessions/create.ts'
import { sessionOperations } from '../modules/sessions/list-and-end.ts'
import { confirmBalance } from '../modules/subscriptions/api/confirm-balance.ts'
import { confirmPayin } from '../modules/subscriptions/api/confirm.ts'
import { checkout, createPayin } from '../modules/subscriptions/api/create.ts'
import { subscriptionReads } from '../modules/subscriptions/api/read.ts'
import { cacheDocument } from '../modules/system/cached-document.ts'
import { systemOperations, type SystemServices } from '../modules/system/operations.ts'
import { resolveUser } from '../modules/users/resolve.ts'
import { openApiDocument, type DescribedHost } from '../openapi/document.ts'

/**
 * Builds and checks the operation table: everything the host serves. Routes, access rules and the API
 * description are derived from it.
 */
export function operations(
  services: ModuleServices & Omit<SystemServices, 'description'>,
  host: DescribedHost,
): readonly Operation[] {
  const table: readonly Operation[] = [
    bootstrap(services),
    ...keyOperations(services),
    createUserSession(services),
    ...sessionOperations(services),
    resolveUser(services),
    createPartnerSession(services),
    createPayin(services),
    confirmPayin(services),
    confirmBalance(services),
    checkout(services),
    ...subscriptionReads(services),
    readBalances(services),
    ...(services.environment === 'sandbox' ? [sandboxDeposit(services)] : []),
    listCards(services),
    ...systemOperations({ ...services, description: () => description }),
  ]
  checkTable(table)
  const description = cacheDocument(openApiDocument(table, host))
  return table
}
