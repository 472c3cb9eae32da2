import type { Clock } from '@gatewright/kernel'
import type { HostServices, Pages } from '@gatewright/host'
import type { SqlClient } from '@gatewright/kernel/sql'
import type { LostRuns } from '@gatewright/idempotency-store'
import type { AliasUsageStorage } from '@gatewright/legacy-alias-router'
import type { LedgerChecks } from './ledger-check.ts'

/** The services behind the operator page. */
export interface OperatorServices {
  readonly clock: Clock
  /** The operator page and its assets. They contain no figures, so they need no token. */
  readonly pages: Pages
  readonly environment: 'sandbox' | 'live'
  readonly serviceName: string
  readonly sql: SqlClient
  readonly keys: Pick<HostServices['backend']['issuer']['keys'], 'find'>
  readonly issuer: Pick<HostServices['issuer'], 'revokeKey' | 'pauseKey' | 'resumeKey'>
  readonly backend: HostServices['backend']
  readonly readiness: Pick<HostServices['readiness'], 'check'>
  readonly requestLog: Pick<HostServices['requestLog'], 'flush'>
  /** The titles of the operations, by id. */
  readonly operationTitles: ReadonlyMap<string, string>
  readonly aliasUsage: AliasUsageStorage
  /** Writes the uses of legacy names that this process has counted. */
  readonly flushAliasUsage: () => Promise<void>
  readonly history: NonNullable<HostServices['history']>
  readonly feed: Pick<HostServices['feed'], 'ageSeconds'>
  readonly jobs: HostServices['jobs']
  readonly lostRuns: LostRuns
  readonly ledgerChecks: LedgerChecks
  /** Receives failures of the listener. */
  readonly report: (error: unknown) => void
}
