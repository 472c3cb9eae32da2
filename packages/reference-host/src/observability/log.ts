import type { Decision } from '@gatewright/http'
import { Fault } from '@gatewright/kernel'
import { pino, type Logger } from 'pino'

/**
 * Creates a logger of JSON lines on stderr: one line per request at `info`, faults at `error`. Decisions
 * contain no credentials; the redacted paths guard against later changes.
 */
export function createLogger(level: string): Logger {
  const secrets = ['token', 'key', 'signature', 'authorization', 'secret', 'password', 'text']
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: secrets.flatMap(name => [name, `*.${name}`]), censor: '[redacted]' },
    },
    pino.destination({ dest: 2, sync: true }),
  )
}

/**
 * Logs a decision. A denial is a normal outcome and stays at `info`; a fault or an error is logged with its
 * cause.
 */
export function logDecision(logger: Logger, { failure, ...decision }: Decision): void {
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
  if (failure === undefined) return logger.info(line, 'request')
  const message = failure instanceof Fault ? 'fault' : 'unexpected error'
  logger.error({ ...line, failure: describeError(failure) }, message)
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
