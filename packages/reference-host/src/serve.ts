// Starts a host from the environment, prints its address and handles signals.
import { Fault } from '@gatewright/kernel'
import { startHost, type RunningHost } from './composition/host.ts'
import { curlLines } from './composition/sandbox.ts'
import { readConfig, type Config } from './config/config.ts'
import { createLogger, describeError, logDecision } from './observability/log.ts'
import { OperatorWarning } from './observability/warning.ts'
import { DataDirUnusable } from './storage/data-dir-unusable.ts'

const config = readConfig(process.env)
if (config.ok) await run(config.value)
else stop(config.problems)

async function run(config: Config): Promise<void> {
  const logger = createLogger(config.logLevel)
  try {
    const host = await startHost(config, {
      observe: decision => logDecision(logger, decision),
      report: error => {
        if (error instanceof OperatorWarning) logger.warn(error.message)
        else logger.error({ failure: describeError(error) }, 'maintenance failed')
      },
    })
    console.log(`${config.serviceName} listens on ${host.url}`)
    if (config.environment === 'sandbox') printSandboxHelp(host)
    console.log('Ready. Stop it with Ctrl-C.')
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        console.log('Stopping: running requests finish first.')
        void host.close().then(() => process.exit(0))
      })
    }
  } catch (error) {
    stop([explainFailure(error, config)])
  }
}

function printSandboxHelp({ url, partnerKey }: RunningHost): void {
  console.log(
    partnerKey === undefined
      ? 'Set PARTNER_KEY to the key that the first start printed, then:'
      : 'A sandbox partner key was created. It is shown only now; keep it:',
  )
  console.log(`\n${curlLines(url, partnerKey)}\n`)
}

/** Explains a failed start to the operator. */
function explainFailure(error: unknown, { port }: Config): string {
  const { code, message, stack, cause } = error as NodeJS.ErrnoException
  if (error instanceof DataDirUnusable) return message
  if (code === 'EADDRINUSE') return `PORT ${port} is in use: stop the process that uses it, or set PORT`
  if (error instanceof Fault)
    return `${message}: ${cause instanceof Error ? cause.message : 'no further cause'}`
  return stack ?? message
}

function stop(problems: readonly string[]): never {
  console.error(`Gatewright cannot start:\n${problems.map(problem => `  ${problem}`).join('\n')}`)
  process.exit(1)
}
