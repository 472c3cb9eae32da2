import type { IdempotencyStorage } from '@gatewright/idempotency-store'
import type { PlannedVersion, RetryReason } from '@gatewright/kernel/internal/sql'
import type { SqlClient, SqlQueries } from '@gatewright/kernel/sql'
import type { AliasUsageStorage } from '@gatewright/legacy-alias-router'
import type { ApprovalStorage, LimiterStore, RevocationFeed, SpendStorage } from '@gatewright/scope-guard'
import type { IssuerOptions } from '@gatewright/session-issuer'
import type { NonceStorage } from '@gatewright/signature-verifier'

/** Checks whether one dependency works. Rejects with the cause if it does not. */
export type DependencyCheck = () => Promise<void>

/** The stores of one host, independent of their kind. */
export interface Backend {
  /** The ledger's database. */
  readonly sql: SqlClient
  readonly nonces: NonceStorage
  readonly issuer: Pick<IssuerOptions, 'keys' | 'sessions' | 'audit' | 'signingKeys'>
  readonly feed: RevocationFeed
  /**
   * Idempotency records and spend counters within a transaction of `sql`, so that they commit with the
   * business rows.
   */
  readonly idempotency: (tx: SqlQueries) => IdempotencyStorage
  readonly spend: (tx: SqlQueries) => SpendStorage
  /** Approvals, whose use commits with a write in the same way. */
  readonly approvals: (tx: SqlQueries) => ApprovalStorage
  readonly aliasUsage: AliasUsageStorage
  /** How often this process ran statements and transactions again that Postgres had rolled back because of simultaneous ones. */
  readonly retries?: Readonly<Record<RetryReason, number>>
  /** How many connections to Postgres this process has, and how many callers wait for one. */
  readonly connections?: () => Readonly<Record<'used' | 'idle' | 'waiting', number>>
  /** Store of rate limit counters. Default: this process. */
  readonly limiter?: LimiterStore
  /** Checks of the stores that the host goes on without, by the name that `/readyz` shows. */
  readonly checks: Readonly<Record<string, DependencyCheck>>
  /** Checks whether this machine has room for data. Absent: the data is on others. */
  readonly assertRoom?: DependencyCheck
  /**
   * Creates or updates the tables; safe when many hosts start simultaneously. With `plan` it writes nothing, and calls `plan` with each
   * version that is missing.
   */
  migrate(plan?: (version: PlannedVersion) => void): Promise<void>
  /** Runs work on one connection to Postgres without a limit of time. Absent: the database is embedded. */
  readonly unlimited?: (work: (db: SqlClient) => Promise<void>) => Promise<void>
  close(): Promise<void>
}

/** How a database is opened. */
export interface DatabaseOptions {
  /** Creates or updates the tables of modules. */
  readonly migrateModules: (db: SqlClient) => Promise<void>
  /** Whether Postgres prepares statements, and connections to it have settings. Default true; false behind a pooler in transaction mode. */
  readonly prepare?: boolean
  /** Where notifications of Postgres are received. Default: its URL, or nowhere without `prepare`. */
  readonly listenUrl?: string | undefined
  /** Limits each statement on Postgres at the client's side. Default: none. */
  readonly queryMs?: number | undefined
}
