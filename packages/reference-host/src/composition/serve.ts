import { Fault } from '@gatewright/kernel'
import {
  DataDirUnusable,
  OperatorWarning,
  createLogger,
  describeError,
  logDecision,
} from '@gatewright/host/internal'
import { readConfig, type Config } from '../config/config.ts'
import { startHost, type RunningHost } from './host.ts'
import { curlLines } from './sandbox.ts'

/** A host that serves until the process gets a signal, or why it could not start. */
type ServeResult =
  | ({ readonly ok: true } & Pick<RunningHost, 'url' | 'partnerKey'>)
  | { readonly ok: false; readonly problem: string }

/** Starts a host from the environment, prints its address, and ends the process on a signal. */
export async function serve(env: NodeJS.ProcessEnv, say: (text: string) => void): Promise<ServeResult> {
  const config = readConfig(env)
  if (!config.ok) return failed(config.problems)
  const logger = createLogger(config.value.logLevel)
  try {
    const host = await startHost(config.value, {
      observe: decision => logDecision(logger, decision),
      report: error => {
        if (error instanceof OperatorWarning) logger.warn(error.message)
        else logger.error({ failure: describeError(error) }, 'maintenance failed')
      },
    })
    closeOnSignals(host, say)
    say(`${config.value.serviceName} listens on ${host.url}`)
    if (config.value.environment === 'sandbox') greetSandbox(host, say)
    if (host.operatorUrl !== undefined) say(operatorLine(host.operatorUrl, config.value))
    say('Ready. Stop it with Ctrl-C.')
    return { ok: true, url: host.url, partnerKey: host.partnerKey }
  } catch (error) {
    return failed([reasonOf(error, config.value)])
  }
}

function closeOnSignals(host: RunningHost, say: (text: string) => void): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      say('Stopping: running requests finish first.')
      void host.close().then(() => process.exit(0))
    })
  }
}

function greetSandbox({ url, partnerKey }: RunningHost, say: (text: string) => void): void {
  say(
    partnerKey === undefined
      ? 'Set PARTNER_KEY to the key that the first start printed, then:'
      : 'A sandbox partner key was created. It is shown only now; keep it:',
  )
  say(`\n${curlLines(url, partnerKey)}\n`)
}

/** Makes the line with the address of the operator page and the place of its token. The token itself is never printed. */
function operatorLine(url: string, { operator, dataDir }: Config): string {
  const place = operator?.token === undefined ? `operatorToken in ${dataDir}/secrets.json` : 'OPERATOR_TOKEN'
  return `Operator page: ${url} (this machine only; its token is ${place})`
}

/** Explains a failed start to the operator. */
function reasonOf(error: unknown, { port, operator }: Config): string {
  const { code, message, stack, cause } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE' && operator && (error as { port?: unknown }).port === operator.port)
    return `OPERATOR_PORT ${operator.port} is in use: stop the process that uses it, or set OPERATOR_PORT`
  if (error instanceof DataDirUnusable) return message
  if (code === 'EADDRINUSE') return `PORT ${port} is in use: stop the process that uses it, or set PORT`
  if (error instanceof Fault)
    return `${message}: ${cause instanceof Error ? cause.message : 'no further cause'}`
  return stack ?? message
}

function failed(problems: readonly string[]): ServeResult {
  const lines = problems.map(problem => `  ${problem}`)
  return { ok: false, problem: `Gatewright cannot start:\n${lines.join('\n')}` }
}
