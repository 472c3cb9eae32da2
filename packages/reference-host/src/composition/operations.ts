import { assertOperationTable } from '../http/operation-table.ts'
import type { Operation } from '../http/operation.ts'
import { agreementOperations } from '../modules/agreements/operations.ts'
import { bootstrap } from '../modules/auth/bootstrap.ts'
import { balanceOperations } from '../modules/balances/read.ts'
import { billOperations } from '../modules/bills/operations.ts'
import { contractOperations } from '../modules/contracts/operations.ts'
import { cryptoOperations } from '../modules/crypto/operations.ts'
import { partnerCryptoOperations } from '../modules/crypto/partner-operations.ts'
import { transferDeposit } from '../modules/deposits/transfer.ts'
import { authorizationOperations } from '../modules/cards/authorizations/operations.ts'
import { cardOperations } from '../modules/cards/operations.ts'
import { folderOperations } from '../modules/folders/operations.ts'
import { depositOperations } from '../modules/deposits/operations.ts'
import { denyDataKey } from '../modules/identity/data-key.ts'
import { identityOperations } from '../modules/identity/operations.ts'
import { keyOperations } from '../modules/keys/operations.ts'
import { kycOperations } from '../modules/kyc/operations.ts'
import { onboardingOperations } from '../modules/onboarding/operations.ts'
import type { ModuleServices } from '../modules/services.ts'
import { notificationOperations } from '../modules/notifications/operations.ts'
import { paymentOperations } from '../modules/payments/operations.ts'
import { referralOperations } from '../modules/referrals/operations.ts'
import { createPartnerSession } from '../modules/sessions/create-for-partner.ts'
import { createUserSession } from '../modules/sessions/create.ts'
import { sessionOperations } from '../modules/sessions/list-and-end.ts'
import { listSpotlight } from '../modules/spotlight/list.ts'
import { cancelSubscription } from '../modules/subscriptions/api/cancel.ts'
import { confirmBalance } from '../modules/subscriptions/api/confirm-balance.ts'
import { confirmPayin } from '../modules/subscriptions/api/confirm.ts'
import { checkout, createPayin } from '../modules/subscriptions/api/create.ts'
import { subscriptionReads } from '../modules/subscriptions/api/read.ts'
import { readSupport } from '../modules/support/read.ts'
import { cacheDocument } from '../modules/system/cached-document.ts'
import { providerEvents, type ProviderEventServices } from '../modules/system/provider-events.ts'
import { systemOperations, type SystemServices } from '../modules/system/operations.ts'
import { listTokens } from '../modules/tokens/list.ts'
import { transactionOperations } from '../modules/transactions/list.ts'
import { userOperations } from '../modules/users/operations.ts'
import { resolveUser } from '../modules/users/resolve.ts'
import { cliOperations } from '../modules/web-sign-in/cli.ts'
import { signInRedirects } from '../modules/web-sign-in/redirects.ts'
import { openConsole } from '../modules/web-sign-in/console.ts'
import { signInOperations } from '../modules/web-sign-in/sign-in.ts'
import { withdrawalOperations } from '../modules/withdrawals/operations.ts'
import { openApiDocument, type DescribedHost } from '../openapi/document.ts'

/**
 * Builds and checks the operation table, which has every operation that the host serves. Routes, access rules and the API
 * description are derived from it.
 */
export function operations(
  services: ModuleServices & Omit<SystemServices, 'description'> & ProviderEventServices,
  host: DescribedHost,
): readonly Operation[] {
  const table: readonly Operation[] = [
    bootstrap(services),
    ...signInOperations(services),
    openConsole(services),
    ...cliOperations(services),
    ...signInRedirects(),
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
    cancelSubscription(services),
    ...balanceOperations(services),
    ...transactionOperations(services),
    ...contractOperations(services),
    transferDeposit(services),
    ...paymentOperations(services),
    ...billOperations(services),
    listTokens(services),
    ...authorizationOperations(services),
    ...cardOperations(services),
    ...folderOperations(services),
    ...depositOperations(services),
    ...withdrawalOperations(services),
    ...userOperations(services),
    ...identityOperations(services),
    ...denyDataKey(),
    readSupport(services),
    ...cryptoOperations(services),
    ...partnerCryptoOperations(services),
    ...referralOperations(services),
    ...notificationOperations(services),
    listSpotlight(services),
    ...kycOperations(services),
    ...agreementOperations(services),
    ...onboardingOperations(services),
    providerEvents(services),
    ...systemOperations({ ...services, description: () => description }),
  ]
  assertOperationTable(table)
  const description = cacheDocument(openApiDocument(table, host))
  return table
}
