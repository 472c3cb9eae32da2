import { constants } from 'node:os'
import type { Observe } from '@gatewright/http'
import { OperatorWarning, createLog, problemOf } from '@gatewright/host/internal'
import { readConfig, type Config } from '../config/config.ts'
import { startHost, type RunningHost } from './host.ts'
import { greetingLines, type Greeting } from './greeting.ts'
import { storePartnerKey } from './sandbox.ts'

/** A host that serves until the process gets a signal, or why it could not start. */
type ServeResult =
  | ({ readonly ok: true } & Pick<RunningHost, 'url' | 'partnerKey'>)
  | { readonly ok: false; readonly problem: string }

/** Starts a host from the environment, prints its address, and ends the process on a signal. */
export async function serve(env: NodeJS.ProcessEnv, say: (text: string) => void): Promise<ServeResult> {
  const config = readConfig(env)
  if (!config.ok) return failed(config.problems)
  const { logLevel, logFormat, openTelemetry, dataDir, databaseUrl } = config.value
  const { logger, logDecision } = createLog(logLevel, logFormat)
  const began = Date.now()
  const signals = stopSignals(say)
  try {
    const telemetry = openTelemetry ? await openTelemetryOf(say) : undefined
    const host = await startHost(config.value, {
      observe(decision) {
        logDecision(decision)
        telemetry?.(decision)
      },
      report: error => {
        if (error instanceof OperatorWarning) logger.warn(error.message)
        else logger.error({ failure: error }, 'maintenance failed')
      },
    })
    signals.listenFor(host)
    const store = databaseUrl === undefined ? `${dataDir} (SQLite)` : 'the database'
    say(`  Opening   ${store}, ${((Date.now() - began) / 1000).toFixed(1)} s`)
    for (const line of greetingLines(await greetingOf(host, config.value))) say(line)
    return { ok: true, url: host.url, partnerKey: host.partnerKey }
  } catch (error) {
    return failed([reasonOf(error, config.value)])
  }
}

/** Loads what reports decisions to OpenTelemetry, and says if no SDK takes them. A host that does not need it loads nothing. */
async function openTelemetryOf(say: (text: string) => void): Promise<Observe> {
  const { trace } = await import('@opentelemetry/api')
  const { openTelemetryObserver } = await import('@gatewright/http/internal/otel')
  // Without an SDK, the API gives each span an invalid context.
  const probe = trace.getTracer('gatewright').startSpan('probe', { root: true })
  if (!trace.isSpanContextValid(probe.spanContext()))
    say(
      '  OTEL_EXPORTER_OTLP_ENDPOINT is set, but no OpenTelemetry SDK is loaded, so nothing is sent:\n' +
        '  npm install @opentelemetry/auto-instrumentations-node, and start with\n' +
        '  NODE_OPTIONS="--import @opentelemetry/auto-instrumentations-node/register"',
    )
  return openTelemetryObserver()
}

/** The signals that stop a host. The terminal or session of a host that ends sends it SIGHUP. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Ends the process on a signal: at once during the start, and later after the host has closed. A second signal ends it at once. The
 * first process of a container gets a signal only if it listens, so this listens from the start on.
 */
function stopSignals(say: (text: string) => void): { listenFor(host: RunningHost): void } {
  let running: RunningHost | undefined
  let stopping = false
  const stop = (signal: (typeof STOP_SIGNALS)[number]): void => {
    if (running === undefined || stopping) process.exit(128 + constants.signals[signal])
    stopping = true
    say('Stopping: running requests finish first.')
    void running.close().then(() => process.exit(0))
  }
  for (const signal of STOP_SIGNALS) process.on(signal, stop)
  return {
    listenFor(host) {
      running = host
    },
  }
}

async function greetingOf(host: RunningHost, config: Config): Promise<Greeting> {
  const { url, partnerKey, operatorUrl, acceptsPartnerKey } = host
  const { serviceName, environment, helperPage, docsPage, operator, dataDir } = config
  // The token of the operator page is never printed.
  const token = operator?.token === undefined ? `operatorToken in ${dataDir}/secrets.json` : 'OPERATOR_TOKEN'
  return {
    serviceName,
    environment,
    url,
    helperPage,
    docsPage,
    dataDir,
    operator: operatorUrl === undefined ? undefined : { url: operatorUrl, token },
    partnerKey:
      environment === 'sandbox'
        ? await storePartnerKey(dataDir, partnerKey, acceptsPartnerKey)
        : { kind: 'none' },
  }
}

/** Explains a failed start to the operator. */
function reasonOf(error: unknown, { port, operator }: Config): string {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE' && operator && (error as { port?: unknown }).port === operator.port)
    return `OPERATOR_PORT ${operator.port} is in use: stop the process that uses it, or set OPERATOR_PORT`
  if (code === 'EADDRINUSE') return `PORT ${port} is in use: stop the process that uses it, or set PORT`
  return problemOf(error).message
}

function failed(problems: readonly string[]): ServeResult {
  const lines = problems.map(problem => `  ${problem}`)
  return { ok: false, problem: `Gatewright cannot start:\n${lines.join('\n')}` }
}
