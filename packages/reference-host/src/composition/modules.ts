import type { Module } from '@gatewright/host'
import { accessConfiguration } from '../modules/access/configuration.ts'
import { evaluateAccess } from '../modules/access/evaluate.ts'
import { agreementOperations } from '../modules/agreements/operations.ts'
import { bootstrap } from '../modules/auth/bootstrap.ts'
import { balanceOperations } from '../modules/balances/read.ts'
import { billOperations } from '../modules/bills/operations.ts'
import { attentionChores } from '../modules/attention/reports.ts'
import { collectDeclined } from '../modules/cards/authorizations/collect.ts'
import { authorizationEvents } from '../modules/cards/authorizations/events.ts'
import { authorizationOperations } from '../modules/cards/authorizations/operations.ts'
import { cardOperations } from '../modules/cards/operations.ts'
import { contractOperations } from '../modules/contracts/operations.ts'
import { cryptoOperations } from '../modules/encryption/operations.ts'
import { partnerCryptoOperations } from '../modules/encryption/partner-operations.ts'
import { FIND_JOB, findJob } from '../modules/deposits/job.ts'
import { depositReportEvent } from '../modules/deposits/report-event.ts'
import { depositOperations } from '../modules/deposits/operations.ts'
import { depositsRestored } from '../modules/deposits/restored.ts'
import { transferDeposit } from '../modules/deposits/transfer.ts'
import { folderOperations } from '../modules/folders/operations.ts'
import { denyDataKey } from '../modules/identity/data-key.ts'
import { identityOperations } from '../modules/identity/operations.ts'
import { keyOperations } from '../modules/keys/operations.ts'
import { kycReportEvent, SUBMIT_JOB, submitJob } from '../modules/kyc/job.ts'
import { kycOperations } from '../modules/kyc/operations.ts'
import { notificationOperations } from '../modules/notifications/operations.ts'
import { onboardingOperations } from '../modules/onboarding/operations.ts'
import { paymentOperations } from '../modules/payments/operations.ts'
import { providerJobs } from '../modules/provider-reports.ts'
import { referralOperations } from '../modules/referrals/operations.ts'
import { requestOperations } from '../modules/requests/operations.ts'
import { createPartnerSession } from '../modules/sessions/create-for-partner.ts'
import { createUserSession } from '../modules/sessions/create.ts'
import { sessionOperations } from '../modules/sessions/list-and-end.ts'
import { listSpotlight } from '../modules/spotlight/list.ts'
import { cancelSubscription } from '../modules/subscriptions/api/cancel.ts'
import { confirmBalance } from '../modules/subscriptions/api/confirm-balance.ts'
import { confirmPayin } from '../modules/subscriptions/api/confirm.ts'
import { checkout, createPayin } from '../modules/subscriptions/api/create.ts'
import { subscriptionReads } from '../modules/subscriptions/api/read.ts'
import { simulatePayment } from '../modules/subscriptions/api/simulate-payment.ts'
import { addressesRestored } from '../modules/subscriptions/onchain/skip-addresses.ts'
import { subscriptionChores } from '../modules/subscriptions/chores.ts'
import { syncDepositAddresses } from '../modules/subscriptions/onchain/sync-deposit-addresses.ts'
import { collectUnpaidPayins } from '../modules/subscriptions/payins/collect.ts'
import { readSupport } from '../modules/support/read.ts'
import { listTokens } from '../modules/tokens/list.ts'
import { transactionOperations } from '../modules/transactions/list.ts'
import { userOperations } from '../modules/users/operations.ts'
import { resolveUser } from '../modules/users/resolve.ts'
import { cliOperations } from '../modules/web-sign-in/cli.ts'
import { collectRequests } from '../modules/web-sign-in/cli-requests.ts'
import { openConsole } from '../modules/web-sign-in/console.ts'
import { signInRedirects } from '../modules/web-sign-in/redirects.ts'
import { signInOperations } from '../modules/web-sign-in/sign-in.ts'
import { webhooksModule } from '../modules/webhooks/module.ts'
import { sendJob, withdrawalReportEvent } from '../modules/withdrawals/job.ts'
import { withdrawalOperations } from '../modules/withdrawals/operations.ts'
import { withdrawalsRestored } from '../modules/withdrawals/restored.ts'
import { SEND_JOB } from '../modules/withdrawals/withdrawal.ts'
import { migrateProduct } from '../product/migrate.ts'
import type { Services } from '../services/services.ts'

const DAY_MS = 86_400_000

/** The parts of this product, in the order of its API description and of `gatewright help`. */
export const modules: readonly Module<Services>[] = [
  { tables: migrateProduct, commands: () => import('../operator/host-commands.ts') },
  { operations: services => [bootstrap(services)] },
  {
    operations: services => [
      ...signInOperations(services),
      openConsole(services),
      ...cliOperations(services),
      ...signInRedirects(),
    ],
    collectors: ({ db, clock }) => [limit => collectRequests(db, limit, clock.now())],
  },
  { commands: () => import('../modules/partners/commands.ts') },
  { operations: keyOperations, commands: () => import('../modules/keys/commands.ts') },
  {
    operations: services => [createUserSession(services), ...sessionOperations(services)],
    commands: () => import('../modules/sessions/commands.ts'),
  },
  { operations: services => [evaluateAccess(services), accessConfiguration(services)] },
  { operations: requestOperations, commands: () => import('../modules/requests/commands.ts') },
  { operations: services => [resolveUser(services)], commands: () => import('../modules/users/commands.ts') },
  { operations: services => [createPartnerSession(services)] },
  { commands: () => import('../modules/ledger/commands.ts') },
  {
    operations: services => [
      createPayin(services),
      confirmPayin(services),
      confirmBalance(services),
      checkout(services),
      ...subscriptionReads(services),
      cancelSubscription(services),
      ...simulatePayment(services),
    ],
    chores: subscriptionChores,
    collectors: ({ db, clock, config }) => [
      limit => collectUnpaidPayins(db, limit, clock.now() - config.unpaidPayinDays * DAY_MS),
    ],
    start: ({ db, receivers }) => syncDepositAddresses(db, receivers),
    restored: addressesRestored,
    commands: () => import('../modules/subscriptions/commands.ts'),
  },
  { operations: balanceOperations },
  { operations: transactionOperations },
  { operations: contractOperations },
  { operations: services => [transferDeposit(services)] },
  { operations: paymentOperations },
  { operations: billOperations },
  { operations: services => [listTokens(services)] },
  {
    operations: services => [...authorizationOperations(services), ...cardOperations(services)],
    collectors: ({ db, clock, config }) => [
      limit => collectDeclined(db, limit, clock.now() - config.declinedAuthorizationDays * DAY_MS),
    ],
    providerEvents: authorizationEvents,
    commands: () => import('../modules/cards/commands.ts'),
  },
  { operations: folderOperations },
  {
    operations: depositOperations,
    jobs: providerJobs({ provider: 'deposits', job: FIND_JOB, event: 'deposit.report' }, findJob),
    restored: depositsRestored,
    providerEvents: ({ deposits }) => ({ 'deposit.report': depositReportEvent(deposits.report) }),
    commands: () => import('../modules/deposits/commands.ts'),
  },
  {
    operations: withdrawalOperations,
    jobs: providerJobs({ provider: 'withdrawals', job: SEND_JOB, event: 'withdrawal.report' }, sendJob),
    restored: withdrawalsRestored,
    providerEvents: ({ withdrawals }) => ({ 'withdrawal.report': withdrawalReportEvent(withdrawals) }),
    commands: () => import('../modules/withdrawals/commands.ts'),
  },
  { operations: userOperations },
  { operations: services => [...identityOperations(services), ...denyDataKey()] },
  { operations: services => [readSupport(services)] },
  {
    operations: services => [...cryptoOperations(services), ...partnerCryptoOperations(services)],
    commands: () => import('../modules/encryption/commands.ts'),
  },
  { operations: referralOperations },
  { operations: notificationOperations },
  webhooksModule,
  { operations: services => [listSpotlight(services)] },
  {
    operations: kycOperations,
    jobs: providerJobs({ provider: 'kyc', job: SUBMIT_JOB, event: 'kyc.report' }, submitJob),
    providerEvents: ({ kyc, providers }) => ({ 'kyc.report': kycReportEvent(kyc, providers.kyc) }),
    commands: () => import('../modules/kyc/commands.ts'),
  },
  { operations: agreementOperations },
  { operations: onboardingOperations },
  { commands: () => import('../operator/commands.ts') },
  { chores: attentionChores, commands: () => import('../modules/attention/kept-events-commands.ts') },
]
