import type { IdempotencyStorage } from '@gatewright/idempotency-store'
import type { SqlClient, SqlDialect, SqlQueries } from '@gatewright/kernel/sql'
import type { AliasUsageStorage } from '@gatewright/legacy-alias-router'
import type { LimiterStore, RevocationFeed, SpendStorage } from '@gatewright/scope-guard'
import type { IssuerOptions } from '@gatewright/session-issuer'
import type { NonceStorage } from '@gatewright/signature-verifier'

/** Asks one dependency whether it can serve; rejects with why not. */
export type DependencyCheck = () => Promise<void>

/** The stores of one host, whatever they are made of. */
export interface Backend {
  /** The ledger's own database. */
  readonly sql: SqlClient
  readonly dialect: SqlDialect
  readonly nonces: NonceStorage
  readonly issuer: Pick<IssuerOptions, 'keys' | 'sessions' | 'audit' | 'signingKeys'>
  readonly feed: RevocationFeed
  /** Idempotency records and spend counters in an open transaction of `sql`, so that they commit with the rows. */
  readonly idempotency: (tx: SqlQueries) => IdempotencyStorage
  readonly spend: (tx: SqlQueries) => SpendStorage
  readonly aliasUsage: AliasUsageStorage
  /** Where rate limits count; absent: in this process. */
  readonly limiter?: LimiterStore
  /** By the name that `/readyz` shows. */
  readonly checks: Readonly<Record<string, DependencyCheck>>
  close(): Promise<void>
}
