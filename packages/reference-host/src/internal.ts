// What the packages of this repository share and no page describes: it may change in any release.
export { unitsOf } from './chain/receivers.ts'
export { viemReader } from './chain/viem-reader.ts'
export { branchOfXpub } from './chain/xpub.ts'
export { configurationPage } from './config/page.ts'
export { accountCipher } from './modules/encryption/account-cipher.ts'
export { accountKeys } from './modules/encryption/account-keys.ts'
export { confirmationsOf, mismatch } from './modules/subscriptions/onchain/match-transfer.ts'
export { nextStatus, PAYIN_MOVES, PAYIN_STATUSES } from './modules/subscriptions/payins/states.ts'
export { aliasTable } from './product/aliases.ts'
export { errorAdvice, errorCodes, ruleMeanings } from './product/errors.ts'
export { migrateHost } from './product/migrate.ts'
export { extendTerm, termEnd } from './product/plans.ts'
export { sealedColumns } from './product/sealed-columns.ts'
export { systemAccounts } from './product/system-accounts.ts'
export type { ViemReaderOptions } from './chain/node.ts'
export type { ChainReader, TokenTransfer, TransferQuery } from './chain/reader.ts'
export type { PayinReceiver } from './chain/receivers.ts'
export type { AddressBranch } from './chain/xpub.ts'
export type { RunningHost, StartOptions } from './composition/host.ts'
export type { Config } from './config/config.ts'
export type {
  AccountCipher,
  CipherProblem,
  CipherResult,
  EncryptedText,
} from './modules/encryption/account-cipher.ts'
export type { AccountKeys } from './modules/encryption/account-keys.ts'
export type { Mismatch, Payable } from './modules/subscriptions/onchain/match-transfer.ts'
export type { PayinCause, PayinStatus } from './modules/subscriptions/payins/states.ts'
export type { PaidTerm, Plan, PlanInterval } from './product/plans.ts'
export type { CardSecrets, IssuedCard } from './providers/cards/port.ts'
export type { Catalogue, Quote, QuoteRequest } from './providers/catalogue.ts'
export type {
  DepositProvider,
  DepositReport,
  DepositStatus,
  NewDeposit,
  OpenDeposit,
} from './providers/deposits/port.ts'
export type { KycApplication, ReportedStatus } from './providers/kyc/port.ts'
export type { Destination, NewWithdrawal, WithdrawalStatus } from './providers/withdrawals/port.ts'
export { sampleApplication } from './testing/kyc-provider.ts'
export type { Asset } from './providers/catalogue.ts'
export type { CardOrder } from './providers/cards/port.ts'
export type { Link } from './providers/kyc/port.ts'
export type { CardIssuerUnderTest } from './testing/card-issuer.ts'
export type { DepositProviderUnderTest } from './testing/deposit-provider.ts'
export type { KycProviderUnderTest } from './testing/kyc-provider.ts'
export type { WithdrawalProviderUnderTest } from './testing/withdrawal-provider.ts'
