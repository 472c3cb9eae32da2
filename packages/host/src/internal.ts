// What the packages of this repository share and no page describes: it may change in any release.
export {
  dollarsArgument,
  instantArgument,
  integerArgument,
  isReference,
  referenceArgument,
} from './cli/arguments.ts'
export { isoOrNull } from './cli/cell.ts'
export { money } from './schemas/us-dollars.ts'
export { CommandError, UsageError, reportElapsed, unwrap } from './cli/command.ts'
export { MAX_LISTED } from './cli/list.ts'
export { printLine } from './cli/print.ts'
export { counted } from './schemas/counted.ts'
export { decideLostRun, describeLostRuns } from './composition/described-lost-runs.ts'
export { operationTable } from './composition/host-module.ts'
export { HostFactories } from './composition/host-services.ts'
export { listLostHistory } from './storage/lost-history.ts'
export { heldKeysOf } from './records/held-keys.ts'
export { heldKeyCommands } from './composition/held-key-commands.ts'
export { historyCommands } from './composition/history-commands.ts'
export { lostRunCommands } from './composition/lost-run-commands.ts'
export { restoredCommand } from './composition/restored-command.ts'
export { hostVariables } from './config/host-variables.ts'
export { jsonFile } from './config/json-file.ts'
export { originOf } from './config/origin.ts'
export { listOf, onOff, wholeNumber } from './config/parsers.ts'
export { DEFAULT_RATE_LIMITS } from './config/rate-limits.ts'
export { parseVariables } from './config/variable.ts'
export { isKeySession, keySession } from './http/credentials/key-session.ts'
export { ruleOf } from './http/mount/mount.ts'
export { callerOf } from './http/operations/operation.ts'
export {
  createdRange,
  cutPage,
  pageParameters,
  positionCursor,
  rangeOf,
  readCursor,
  readPositionCursor,
} from './http/operations/paging.ts'
export { requestTimeLimit } from './http/request/request-time.ts'
export { unknownQueryName } from './http/request/unknown-names.ts'
export { tooLittleMoney } from './http/operations/too-little-money.ts'
export { ledgerAccounts } from './ledger/accounts.ts'
export { checkLedger } from './ledger/check.ts'
export { accountsThatDiffer } from './ledger/differences.ts'
export { createLedger } from './ledger/ledger.ts'
export { findTransactionGaps } from './ledger/missing-transactions.ts'
export {
  sourceName,
  TRANSACTION_STATUSES,
  TRANSACTION_TYPES,
  transactionTable,
} from './ledger/transactions.ts'
export { COMPARED_MS, HISTORY_MS, SLOT_MS } from './observability/history.ts'
export { createLog, describeError } from './observability/log.ts'
export { DECISION_OUTCOMES } from './observability/outcome.ts'
export { REQUEST_SECONDS, STORE_CHECK_SECONDS, quantileOf } from './observability/quantile.ts'
export { escapedLine } from './observability/terminal.ts'
export { OperatorWarning } from './observability/warning.ts'
export { countJobs, listJobs } from './records/described-jobs.ts'
export { EVENT_LANES, MAX_HISTORY } from './records/events.ts'
export { createEventLanes, publishEvents, skipLostPlaces } from './records/publish-events.ts'
export { newId } from './records/new-id.ts'
export { listOperatorActions, recordOperatorAction } from './records/operator-actions.ts'
export { NO_ACCOUNT, REQUEST_OUTCOMES, requests } from './records/requests.ts'
export { readNewest } from './records/newest-page.ts'
export { rewrapColumn } from './records/rewrap.ts'
export { createPrivateFile, replacePrivateFile } from './storage/private-file.ts'
export { compileSchema } from './schemas/check.ts'
export {
  Currency,
  PolicySchema,
  grantedScopes,
  ignoredScopes,
  instantOrNull,
  textOrNull,
} from './schemas/fields.ts'
export { DATE_OR_INSTANT, INSTANT_FORMAT, isDate } from './schemas/instant.ts'
export { URL_FORMAT, isName } from './schemas/names.ts'
export { backupEmbedded } from './storage/backup-embedded.ts'
export { acceptedFrom } from './storage/restores.ts'
export { DataDirUnusable } from './storage/data-dir-unusable.ts'
export { migrateKit } from './storage/migrate.ts'
export type { CommandArguments, CommandOutput, StartCommand } from './cli/command.ts'
export type { Chore } from './composition/chores.ts'
export type { OperatorDecision } from './composition/described-lost-runs.ts'
export type { EndedKeys, HostInputs } from './composition/host-services.ts'
export type { RestoreFindings } from './composition/module.ts'
export type { ServicesOf } from './composition/make-services.ts'
export type { CommandOptions } from './composition/run-program.ts'
export type { ValuesOf } from './config/variable.ts'
export type { PageResponse, Pages } from './http/app.ts'
export type { HostDenial } from './http/codes.ts'
export type { Example, OperationRules } from './http/operations/operation.ts'
export { applyKept } from './http/provider-events/apply-event.ts'
export {
  digestOf,
  type AppliedEvent,
  type EventOutcome,
  type EventType,
} from './http/provider-events/provider-event-types.ts'
export { keptEvents, type KeptEvent } from './records/kept-events.ts'
export type { MessageVerifier } from './http/credentials/provider-messages.ts'
export type { Requirements } from './http/operations/requirements.ts'
export type { ApprovedKey, SpendLimits, WebSession, WebTokens } from './http/credentials/web-session.ts'
export type { SystemAccount } from './ledger/accounts.ts'
export type { LedgerFindings } from './ledger/check.ts'
export type { HeldMoney } from './ledger/differences.ts'
export type { BalanceLeg, MissingTransaction, ShownTransfers } from './ledger/missing-transactions.ts'
export type { Debit, Ledger, TransferResult } from './ledger/ledger.ts'
export type { MeasuredFeed } from './observability/feed-age.ts'
export type { History } from './observability/history.ts'
export type { Metrics } from './observability/metrics.ts'
export type { RequestLog } from './records/request-log.ts'
export type { RecordedRequest, RequestFilter, RequestOutcome } from './records/requests.ts'
export type { PublishedEvent } from './records/publish-events.ts'
export type { JobHandler, JobQueue } from './records/jobs.ts'
export type { RowFilter } from './records/newest-page.ts'
export type { RewrappedColumn, SealedColumn } from './records/rewrap.ts'
export type { Sealer } from './records/sealed.ts'
export type { Backend } from './storage/backend.ts'
export type { Restore } from './storage/restores.ts'
export type { Secrets } from './storage/secrets.ts'
