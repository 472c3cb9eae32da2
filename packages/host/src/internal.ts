// What the packages of this repository share and no page describes: it may change in any release.
export { instantArgument, integerArgument } from './cli/arguments.ts'
export { isoOrNull, SHORT_ID } from './cli/cell.ts'
export { money } from './schemas/us-dollars.ts'
export { reportElapsed, unwrap } from './cli/command.ts'
export { MAX_LISTED } from './cli/list.ts'
export { commandsOf } from './composition/run-program.ts'
export { counted } from './schemas/counted.ts'
export { describedLostRuns } from './composition/described-lost-runs.ts'
export { listLostHistory } from './storage/lost-history.ts'
export { heldKeysOf } from './records/held-keys.ts'
export { originOf } from './config/origin.ts'
export { isKeySession, keySession } from './http/credentials/key-session.ts'
export { callerOf } from './http/operations/operation.ts'
export {
  createdRange,
  cutPage,
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
export {
  sourceName,
  TRANSACTION_STATUSES,
  TRANSACTION_TYPES,
  transactionTable,
} from './ledger/transactions.ts'
export { createLog } from './observability/log.ts'
export { overTime } from './observability/over-time.ts'
export { OperatorWarning } from './observability/warning.ts'
export { describedJobs } from './records/described-jobs.ts'
export { EVENT_LANES, MAX_HISTORY } from './records/events.ts'
export { operatorActions } from './records/operator-actions.ts'
export { REQUEST_OUTCOMES, requests } from './records/requests.ts'
export { readNewest, searchPage } from './records/newest-page.ts'
export { compileSchema } from './schemas/check.ts'
export { DATE_OR_INSTANT, isDate } from './schemas/instant.ts'
export { URL_FORMAT, isName } from './schemas/names.ts'
export { problemOf } from './composition/command-host.ts'
export { migrateKit } from './storage/migrate.ts'
export type { OperationRules } from './http/operations/operation.ts'
export { applyKept } from './http/provider-events/apply-event.ts'
export { digestOf, type AppliedEvent } from './http/provider-events/provider-event-types.ts'
export { keptEvents } from './records/kept-events.ts'
export type { MessageVerifier } from './http/credentials/provider-messages.ts'
export type { ApprovedKey, SpendLimits, WebSession, WebTokens } from './http/credentials/web-session.ts'
export type { SystemAccount } from './ledger/accounts.ts'
export type { Debit } from './ledger/ledger.ts'
export type { RecordedRequest } from './records/requests.ts'
export type { Sealer } from './records/sealed.ts'
export { sessionRule } from './composition/host-module.ts'
