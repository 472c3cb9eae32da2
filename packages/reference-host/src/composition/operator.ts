import { join } from 'node:path'
import { LEDGER_CHECK_MS, ledgerCheckProcess, ledgerChecks } from '../operator/ledger-check.ts'
import { startOperatorListener, type OperatorListener } from '../operator/listener.ts'
import { createPages } from '../pages/serve.ts'
import { operatorPages } from '../pages/table.ts'
import type { Services } from '../services/services.ts'

/** Starts the listener of the operator page. Undefined if the configuration does not turn it on. */
export async function startOperator(services: Services): Promise<OperatorListener | undefined> {
  const { config, backend, clock, history, secrets, report, aliasUsage, feed, jobs, lostRuns } = services
  const { readiness, requestLog, operationTitles } = services
  const { operator, environment, serviceName, databaseUrl, dataDir } = config
  if (!operator || !history || secrets.operatorToken === undefined) return undefined
  const database =
    databaseUrl === undefined
      ? { path: join(dataDir, 'host.sqlite') }
      : { url: databaseUrl, statementMs: LEDGER_CHECK_MS }
  return startOperatorListener(
    { port: operator.port, token: secrets.operatorToken },
    {
      pages: createPages(config, operatorPages),
      clock,
      environment,
      serviceName,
      history,
      report,
      sql: backend.sql,
      keys: backend.issuer.keys,
      issuer: services.issuer,
      backend,
      readiness,
      requestLog,
      operationTitles,
      aliasUsage: backend.aliasUsage,
      lostRuns,
      flushAliasUsage: () => aliasUsage.flush(),
      feed,
      jobs,
      ledgerChecks: ledgerChecks(ledgerCheckProcess(database), clock),
    },
  )
}
