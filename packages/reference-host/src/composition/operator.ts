import { join } from 'node:path'
import type { UsageLog } from '@gatewright/legacy-alias-router'
import { LEDGER_CHECK_MS, ledgerCheckProcess, ledgerChecks } from '../operator/ledger-check.ts'
import { startOperatorListener, type OperatorListener } from '../operator/listener.ts'
import { createPages } from '../pages/serve.ts'
import { operatorPages } from '../pages/table.ts'
import type { Container } from './container.ts'
import * as token from './registrations.ts'

/** Starts the listener of the operator page. Undefined if the configuration does not turn it on. */
export async function startOperator(
  container: Container,
  aliasUsage: UsageLog,
  report: (error: unknown) => void,
): Promise<OperatorListener | undefined> {
  const config = container.get(token.CONFIG)
  const { operator, environment, serviceName, databaseUrl, dataDir } = config
  const history = container.get(token.HISTORY)
  const operatorToken = container.get(token.SECRETS).operatorToken
  if (!operator || !history || operatorToken === undefined) return undefined
  const backend = container.get(token.BACKEND)
  const clock = container.get(token.CLOCK)
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
      feed: container.get(token.FEED),
      jobs: container.get(token.JOBS),
      ledgerChecks: ledgerChecks(ledgerCheckProcess(database), clock),
    },
  )
}
