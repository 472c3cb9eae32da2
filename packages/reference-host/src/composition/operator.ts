import { join } from 'node:path'
import type { UsageLog } from '@gatewright/legacy-alias-router'
import { LEDGER_CHECK_MS, ledgerCheckProcess, ledgerChecks } from '../operator/ledger-check.ts'
import { startOperatorListener, type OperatorListener } from '../operator/listener.ts'
import { createPages } from '../pages/serve.ts'
import { operatorPages } from '../pages/table.ts'
import type { Container } from './container.ts'
import * as registrations from './registrations.ts'

/** Starts the listener of the operator page. Undefined if the configuration does not turn it on. */
export async function startOperator(
  container: Container,
  aliasUsage: UsageLog,
  report: (error: unknown) => void,
): Promise<OperatorListener | undefined> {
  const config = container.get(registrations.CONFIG)
  const { operator, environment, serviceName, databaseUrl, dataDir } = config
  const history = container.get(registrations.HISTORY)
  const operatorToken = container.get(registrations.SECRETS).operatorToken
  if (!operator || !history || operatorToken === undefined) return undefined
  const backend = container.get(registrations.BACKEND)
  const clock = container.get(registrations.CLOCK)
  const database =
    databaseUrl === undefined
      ? { path: join(dataDir, 'host.sqlite') }
      : { url: databaseUrl, statementMs: LEDGER_CHECK_MS }
  return startOperatorListener(
    { port: operator.port, token: operatorToken },
    {
      pages: createPages(config, operatorPages),
      clock,
      environment,
      serviceName,
      history,
      report,
      sql: backend.sql,
      aliasUsage: backend.aliasUsage,
      lostRuns: backend.lostRuns,
      flushAliasUsage: () => aliasUsage.flush(),
      feed: container.get(registrations.FEED),
      jobs: container.get(registrations.JOBS),
      ledgerChecks: ledgerChecks(ledgerCheckProcess(database), clock),
    },
  )
}
