import type { Module } from '@gatewright/host'
import { accessModule } from '../modules/access/module.ts'
import { agreementsModule } from '../modules/agreements/module.ts'
import { approvalsModule } from '../modules/approvals/module.ts'
import { attentionModule } from '../modules/attention/module.ts'
import { authModule } from '../modules/auth/module.ts'
import { balancesModule } from '../modules/balances/module.ts'
import { billsModule } from '../modules/bills/module.ts'
import { cardsModule } from '../modules/cards/module.ts'
import { contractsModule } from '../modules/contracts/module.ts'
import { depositTransfersModule, depositsModule } from '../modules/deposits/module.ts'
import { encryptionModule } from '../modules/encryption/module.ts'
import { foldersModule } from '../modules/folders/module.ts'
import { identityModule } from '../modules/identity/module.ts'
import { keysModule } from '../modules/keys/module.ts'
import { kycModule } from '../modules/kyc/module.ts'
import { ledgerModule } from '../modules/ledger/module.ts'
import { notificationsModule } from '../modules/notifications/module.ts'
import { onboardingModule } from '../modules/onboarding/module.ts'
import { partnersModule } from '../modules/partners/module.ts'
import { paymentsModule } from '../modules/payments/module.ts'
import { referralsModule } from '../modules/referrals/module.ts'
import { requestsModule } from '../modules/requests/module.ts'
import { partnerSessionsModule, sessionsModule } from '../modules/sessions/module.ts'
import { spotlightModule } from '../modules/spotlight/module.ts'
import { subscriptionsModule } from '../modules/subscriptions/module.ts'
import { supportModule } from '../modules/support/module.ts'
import { tokensModule } from '../modules/tokens/module.ts'
import { transactionsModule } from '../modules/transactions/module.ts'
import { partnerUsersModule, usersModule } from '../modules/users/module.ts'
import { webSignInModule } from '../modules/web-sign-in/module.ts'
import { webhooksModule } from '../modules/webhooks/module.ts'
import { withdrawalsModule } from '../modules/withdrawals/module.ts'
import { hostModule, operatorModule } from '../operator/module.ts'
import type { Services } from '../services/services.ts'

/** The parts of this product, in the order of its API description and of `gatewright help`. */
export const modules: readonly Module<Services>[] = [
  hostModule,
  authModule,
  webSignInModule,
  partnersModule,
  keysModule,
  approvalsModule,
  sessionsModule,
  accessModule,
  requestsModule,
  partnerUsersModule,
  partnerSessionsModule,
  ledgerModule,
  subscriptionsModule,
  balancesModule,
  transactionsModule,
  contractsModule,
  depositTransfersModule,
  paymentsModule,
  billsModule,
  tokensModule,
  cardsModule,
  foldersModule,
  depositsModule,
  withdrawalsModule,
  usersModule,
  identityModule,
  supportModule,
  encryptionModule,
  referralsModule,
  notificationsModule,
  webhooksModule,
  spotlightModule,
  kycModule,
  agreementsModule,
  onboardingModule,
  operatorModule,
  attentionModule,
]
