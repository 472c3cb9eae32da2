import { writeSync } from 'node:fs'
import type { Decision } from '@gatewright/http'
import { Fault } from '@gatewright/kernel'
import { pino, type Logger } from 'pino'

/**
 * Creates a logger of JSON lines on stderr: one line per request at `info`, faults at `error`. Decisions contain no
 * credentials; the redacted paths are a second safeguard.
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
    lineWriter(2),
  )
}

/**
 * Writes each line immediately, and drops it if that fails, as on a full disk. The destinations of pino would keep such lines in
 * memory without bound, and throw uncaught errors.
 */
function lineWriter(fd: number): { write(line: string): void } {
  let failed = false
  return {
    write(line) {
      try {
        // Ends a line that was written only in part.
        writeAll(fd, failed ? `\n${line}` : line)
        failed = false
      } catch {
        failed = true
      }
    },
  }
}

const PAUSE = new Int32Array(new SharedArrayBuffer(4))

function writeAll(fd: number, text: string): void {
  for (let rest = Buffer.from(text); rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(fd, rest))
    } catch (error) {
      // EAGAIN: the reader of the pipe is slow. It is waited for, as by a write to a blocking pipe.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      Atomics.wait(PAUSE, 0, 0, 10)
    }
  }
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
