import type { Answer } from '@gatewright/http'
import { Fault } from '@gatewright/kernel'
import type { Exchange } from './exchange.ts'

/** What was decided about one request: redacted by construction, since only these members exist. */
export interface Decision {
  readonly requestId: string
  readonly traceId: string | undefined
  readonly method: string
  /** The operation's id; undefined where none matched. Never the path, which may hold ids. */
  readonly operation: string | undefined
  readonly status: number
  /** The denial's code, where there is one. */
  readonly code: string | undefined
  /** The exact cause of a denial that answers keep back. */
  readonly reason: string | undefined
  readonly accountId: string | undefined
  readonly keyId: string | undefined
  readonly sessionId: string | undefined
  /** Ids of the old names that were used. */
  readonly aliases: readonly string[]
  readonly replayed: boolean
  readonly durationMs: number
  /** A fault, or an error that nobody expected. */
  readonly failure: unknown
}

/** Takes the decision event of each request. Must not throw. */
export type Observe = (decision: Decision) => void

/** Makes the event of a finished exchange. */
export function decisionOf(exchange: Exchange, answer: Answer, failure: unknown): Decision {
  const { performed, operation } = exchange
  const denial = performed && !performed.verdict.ok ? performed.verdict : undefined
  const code = (answer.body as { error?: unknown } | undefined)?.error
  return {
    requestId: exchange.requestId,
    traceId: exchange.traceId,
    method: exchange.facts.method,
    operation: operation?.id,
    status: answer.status,
    code: typeof code === 'string' ? code : undefined,
    reason: failure instanceof Fault ? failure.code : denial?.reason,
    ...(performed?.who ?? { accountId: undefined, keyId: undefined, sessionId: undefined }),
    aliases: [...new Set(exchange.facts.oldNames.map(({ alias }) => alias.id))],
    replayed: answer.headers.some(([name]) => name === 'Idempotency-Replayed'),
    durationMs: performance.now() - exchange.startedAtMs,
    failure,
  }
}
