import type { Decision } from '@gatewright/http'
import { Fault } from '@gatewright/kernel'
import { pino, type Logger } from 'pino'

/**
 * Structured logs on stderr: one JSON line a request at `info`, faults at `error`. A decision holds no credential by
 * construction; the paths below are a second net under whatever a later change adds.
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

/** Writes a decision. A refusal is a normal outcome and stays at `info`; a fault or an error is logged with its cause. */
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
  logger.error({ ...line, failure: describe(failure) }, message)
}

const hundredths = (ms: number): number => Math.round(ms * 100) / 100

/** What an error says of itself. Enumerable extras of drivers are left out: they can hold statement values. */
export function describe(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error }
  const { name, message, stack, cause } = error
  return {
    name,
    message,
    stack,
    ...(cause instanceof Error ? { cause: `${cause.name}: ${cause.message}` } : {}),
  }
}
