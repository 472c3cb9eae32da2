export type { HostServices } from './composition/host-services.ts'
export type { Module } from './composition/module.ts'
export { runHost } from './composition/run-host.ts'
export type { HostOptions, Product, StartedHost } from './composition/run-host.ts'
export { codes, deny } from './http/codes.ts'
export { ledgerWrite, operation } from './http/operations/operation.ts'
export type {
  Call,
  CredentialKind,
  LedgerOperation,
  Operation,
  PlainOperation,
  Success,
  WriteContext,
} from './http/operations/operation.ts'
export type { Money } from './ledger/money.ts'
export { transactions } from './ledger/transactions.ts'
export { events } from './records/events.ts'
export { readOperation } from './http/operations/read.ts'
export { listOperation } from './http/operations/list.ts'
export { payAtOnce } from './http/operations/pay-at-once.ts'
export type { CommandResult } from './cli/command.ts'
export type { ConfigResult } from './config/host-config.ts'
export type { Env } from './config/variable.ts'
export type { ImmediatePayment, PaymentServices } from './http/operations/pay-at-once.ts'
export type { ListedRow, ListRule, NewestListRule } from './http/operations/list.ts'
export type { Merchant, Transaction, TransactionEntry, TransactionFilter } from './ledger/transactions.ts'
export type { NewEvent, RecordedEvent, Subject } from './records/events.ts'
export type { NewestPage, Place } from './records/newest-page.ts'
export type { PageOf } from './records/table.ts'
export type { ReadRule } from './http/operations/read.ts'
export { HostFactories } from './composition/host-services.ts'
export { newId } from './records/new-id.ts'
export type { Chore } from './composition/chores.ts'
export type { ServicesOf } from './composition/make-services.ts'
export type { RestoreFindings } from './composition/module.ts'
export type { HostDenial } from './http/codes.ts'
export type { Example } from './http/operations/operation.ts'
export type { EventOutcome, EventType } from './http/provider-events/provider-event-types.ts'
export type { JobHandler } from './records/jobs.ts'
export type { Restore } from './storage/restores.ts'
export type { PageResponse, Pages } from './http/app.ts'
