import type { Decision } from '@gatewright/http'
import { Fault } from '@gatewright/kernel'
import { pino, type Logger } from 'pino'
import { standardErrorWriter } from './line-writer.ts'
import { requestLine } from './request-line.ts'

/** How log lines look: JSON for programs, or short lines for a person. */
export type LogFormat = 'json' | 'line'

/**
 * Creates a logger of lines on stderr: one line per request at `info`, faults at `error`. It never waits for a slow reader: see
 * `standardErrorWriter`. In lines other than decisions, members with the names of credentials are redacted. `format` default: `line`
 * on a terminal, else `json`.
 */
export function createLogger(level: string, format?: LogFormat): Logger {
  const secrets = ['token', 'key', 'signature', 'authorization', 'secret', 'password', 'text']
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: secrets.flatMap(name => [name, `*.${name}`]), censor: '[redacted]' },
    },
    writerOf(format ?? (process.stderr.isTTY ? 'line' : 'json')),
  )
}

function writerOf(format: LogFormat): { write(line: string): void } {
  const writer = standardErrorWriter()
  if (format === 'json') return writer
  const { stderr } = process
  const colors = stderr.isTTY && stderr.hasColors()
  // Read for each line: a window can change its width.
  return { write: line => writer.write(requestLine(line, { colors, width: stderr.columns ?? 0 })) }
}

/** The logger of decisions that belongs to a logger. */
const decisionLoggers = new WeakMap<Logger, Logger>()

/** Returns a logger that redacts nothing: a decision has no member to redact, and to look for some costs 5 % of a guarded read. */
function decisionLogger(logger: Logger): Logger {
  const known = decisionLoggers.get(logger)
  if (known) return known
  const made = logger.child({}, { redact: [] })
  decisionLoggers.set(logger, made)
  return made
}

/**
 * Logs a decision. A denial is a normal outcome and stays at `info`; a fault or an error is logged with its
 * cause.
 */
export function logDecision(
  logger: Logger,
  { failure, denial: _denial, traceparent: _traceparent, ...decision }: Decision,
): void {
  const level = failure === undefined ? 'info' : 'error'
  if (!logger.isLevelEnabled(level)) return
  const { durationMs, guardMs, handlerMs, storeMs } = decision
  const line = {
    ...decision,
    durationMs: hundredths(durationMs),
    guardMs: hundredths(guardMs),
    handlerMs: hundredths(handlerMs),
    storeMs: hundredths(storeMs),
  }
  const decisions = decisionLogger(logger)
  if (failure === undefined) return decisions.info(line, 'request')
  const message = failure instanceof Fault ? 'fault' : 'unexpected error'
  decisions.error({ ...line, failure: describeError(failure) }, message)
}

const hundredths = (ms: number): number => Math.round(ms * 100) / 100

/**
 * Describes an error without the additional properties of database drivers, which can contain statement
 * values.
 */
export function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error }
  const { name, message, stack, cause } = error
  return {
    name,
    message,
    stack,
    ...(cause instanceof Error ? { cause: `${cause.name}: ${cause.message}` } : {}),
  }
}
