import type { Decision, Observe } from '@gatewright/http'
import { Fault } from '@gatewright/kernel'
import { pino, type Logger } from 'pino'
import { messageOf } from '../records/cause.ts'
import { standardErrorWriter } from './line-writer.ts'
import { requestLine } from './request-line.ts'

/** How log lines look: JSON for programs, or short lines for a person. */
export type LogFormat = 'json' | 'line'

/** The log of a host: lines on standard error, by one writer, so that they stay in order. */
export interface HostLog {
  /** For all lines but decisions. Members with the names of credentials are redacted. */
  readonly logger: Logger
  /** Writes the line of a request: `info`, or `error` after a fault or an unexpected error, whose cause is in the line. */
  readonly logDecision: Observe
}

/**
 * Creates the log of a host. It never waits for a slow reader: see `standardErrorWriter`. Lines below `level` are not written. `format`
 * default: `line` on a terminal, else `json`.
 */
export function createLog(level: string, format?: LogFormat): HostLog {
  const writer = writerOf(format ?? (process.stderr.isTTY ? 'line' : 'json'))
  const secrets = ['token', 'key', 'signature', 'authorization', 'secret', 'password', 'text']
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { failure: describeError },
      redact: { paths: secrets.flatMap(name => [name, `*.${name}`]), censor: '[redacted]' },
    },
    writer,
  )
  return {
    logger,
    logDecision(decision) {
      if (logger.isLevelEnabled(decision.failure === undefined ? 'info' : 'error'))
        writer.write(decisionLine(decision))
    },
  }
}

function writerOf(format: LogFormat): { write(line: string): void } {
  const writer = standardErrorWriter()
  if (format === 'json') return writer
  const { stderr } = process
  const colors = stderr.isTTY && stderr.hasColors()
  // Read for each line: a window can change its width.
  return { write: line => writer.write(requestLine(line, { colors, width: stderr.columns ?? 0 })) }
}

/**
 * Makes the line of a decision, in the form of pino's lines. A denial is a normal outcome and stays at `info`. There is nothing to redact.
 */
function decisionLine(decision: Decision): string {
  const { failure } = decision
  // Each member by name, and without pino: a copy of the decision in a line by pino costs 5 % of a guarded read.
  const line: DecisionLine = {
    level: pino.levels.values[failure === undefined ? 'info' : 'error'],
    time: new Date().toISOString(),
    requestId: decision.requestId,
    traceId: decision.traceId,
    method: decision.method,
    byTool: decision.byTool,
    operation: decision.operation,
    route: decision.route,
    credential: decision.credential,
    accountId: decision.accountId,
    keyId: decision.keyId,
    sessionId: decision.sessionId,
    policyRevision: decision.policyRevision,
    status: decision.status,
    code: decision.code,
    reason: decision.reason,
    rule: decision.rule,
    limits: decision.limits,
    aliases: decision.aliases,
    replayed: decision.replayed,
    outcome: decision.outcome,
    effectId: decision.effectId,
    durationMs: hundredths(decision.durationMs),
    guardMs: hundredths(decision.guardMs),
    handlerMs: hundredths(decision.handlerMs),
    storeMs: hundredths(decision.storeMs),
    failure: failure === undefined ? undefined : describeError(failure),
    msg: failure === undefined ? 'request' : failure instanceof Fault ? 'fault' : 'unexpected error',
  }
  return `${JSON.stringify(line)}\n`
}

/** What a line tells of a decision: not the denial, whose message can quote the request, nor `traceparent`, which has the trace id. */
type DecisionLine = Record<
  'level' | 'time' | 'msg' | Exclude<keyof Decision, 'denial' | 'traceparent'>,
  unknown
>

const hundredths = (ms: number): number => Math.round(ms * 100) / 100

/**
 * Describes an error without the additional properties of database drivers, which can contain statement
 * values.
 */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error }
  const { name, message, stack, cause } = error
  return {
    name,
    message,
    stack,
    ...(cause instanceof Error ? { cause: `${cause.name}: ${messageOf(cause)}` } : {}),
  }
}
