export { runCommand } from './cli/run-command.ts'
export { readConfig } from './config/config.ts'
export { configurationPage } from './config/page.ts'
export { startHost } from './composition/host.ts'
export { ledgerAccounts } from './ledger/accounts.ts'
export { systemAccounts } from './product/system-accounts.ts'
export { createLedger, migrateLedger } from './ledger/ledger.ts'
export { extendTerm, termEnd } from './product/plans.ts'
export { nextStatus, PAYIN_MOVES, PAYIN_STATUSES } from './modules/subscriptions/payins/states.ts'
export { openApiDocument } from './openapi/document.ts'
export { assertOperationTable } from './http/operation-table.ts'
export { aliasTable } from './product/aliases.ts'
export { viemReader } from './chain/viem-reader.ts'
export { unitsOf } from './chain/receivers.ts'
export { branchOfXpub } from './chain/xpub.ts'
export { confirmationsOf, mismatch } from './modules/subscriptions/onchain/match-transfer.ts'
export { accountCipher } from './modules/crypto/account-cipher.ts'
export { accountKeys } from './modules/crypto/account-keys.ts'
export { migrateHost } from './product/migrate.ts'
export { events } from './records/events.ts'
export { newId } from './records/new-id.ts'
export { rewrapColumn } from './records/rewrap.ts'
export { createSealer } from './records/sealed.ts'
export { sealedColumns } from './product/sealed-columns.ts'
export type { ViemReaderOptions } from './chain/node.ts'
export type { ChainReader, TokenTransfer, TransferQuery } from './chain/reader.ts'
export type { PayinReceiver } from './chain/receivers.ts'
export type { AddressBranch } from './chain/xpub.ts'
export type { Mismatch, Payable } from './modules/subscriptions/onchain/match-transfer.ts'
export type { Config } from './config/config.ts'
export type { ConfigResult } from './config/host-config.ts'
export type {
  AccountCipher,
  CipherProblem,
  CipherResult,
  EncryptedText,
} from './modules/crypto/account-cipher.ts'
export type { AccountKeys } from './modules/crypto/account-keys.ts'
export type { NewEvent, RecordedEvent, Subject } from './records/events.ts'
export type { RewrappedColumn, SealedColumn } from './records/rewrap.ts'
export type { RingKey, Sealer } from './records/sealed.ts'

export type { RateLimits } from './config/rate-limits.ts'
export type { NamedSecret } from './config/parsers.ts'
export type { CommandResult, CommandOptions } from './cli/run.ts'
export type { Chore } from './composition/chores.ts'
export type { Ledger, LedgerReport, Transfer, TransferResult } from './ledger/ledger.ts'
export type { PaidTerm, Plan, PlanInterval } from './product/plans.ts'
export type { PayinCause, PayinStatus } from './modules/subscriptions/payins/states.ts'
export type { RunningHost, StartOptions } from './composition/host.ts'
export type { Providers } from './providers/ports.ts'
export type { CardIssuer, CardOrder, CardSecrets, IssuedCard } from './providers/cards/port.ts'
export type { Rejection } from './providers/reply.ts'
export type { KycApplication, KycProvider, KycReport, Link, ReportedStatus } from './providers/kyc/port.ts'
export type { Asset, Catalogue, Quote, QuoteRequest } from './providers/catalogue.ts'
export type {
  DepositProvider,
  DepositReport,
  DepositStatus,
  NewDeposit,
  OpenDeposit,
} from './providers/deposits/port.ts'
export type {
  Destination,
  NewWithdrawal,
  WithdrawalProvider,
  WithdrawalReport,
  WithdrawalStatus,
} from './providers/withdrawals/port.ts'
export type { MessageVerifier, SignedMessage } from './http/provider-messages.ts'
export type { DescribedHost } from './openapi/document.ts'
export type { Operation } from './http/operation.ts'
export type { Decision, Observe } from '@gatewright/http'
