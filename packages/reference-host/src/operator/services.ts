import type { Clock } from '@gatewright/kernel/internal'
import type { SqlQueries } from '@gatewright/kernel/sql'
import type { LostRuns } from '@gatewright/idempotency-store'
import type { AliasUsageStorage } from '@gatewright/legacy-alias-router'
import type {
  Backend,
  History,
  HostConfig,
  JobQueue,
  MeasuredFeed,
  Pages,
  RequestLog,
} from '@gatewright/host/internal'
import type { LedgerChecks } from './ledger-check.ts'

/** The services behind the operator page. */
export interface OperatorServices {
  readonly clock: Clock
  /** The operator page and its assets. They contain no figures, so they need no token. */
  readonly pages: Pages
  readonly environment: 'sandbox' | 'live'
  readonly serviceName: string
  readonly sql: SqlQueries
  readonly keys: Pick<Backend['issuer']['keys'], 'find'>
  /** Dependency checks by the name that `/readyz` shows. */
  readonly checks: Backend['checks']
  readonly requestLog: Pick<RequestLog, 'flush'>
  readonly requestLogMode: HostConfig['requestLog']['mode']
  readonly aliasUsage: AliasUsageStorage
  /** Writes the uses of legacy names that this process has counted. */
  readonly flushAliasUsage: () => Promise<void>
  readonly history: History
  readonly feed: Pick<MeasuredFeed, 'ageSeconds'>
  readonly jobs: JobQueue
  readonly lostRuns: LostRuns
  readonly ledgerChecks: LedgerChecks
  /** Receives failures of the listener. */
  readonly report: (error: unknown) => void
}
