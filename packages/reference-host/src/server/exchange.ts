import type { Answer, ErrorShape } from '@gatewright/http'
import type { RequestFacts } from '@gatewright/http/koa'
import type { AliasUse } from '@gatewright/legacy-alias-router'
import type { Operation } from './operation.ts'
import type { Performed } from './perform.ts'

/** The facts of a request under current names. */
export interface CanonicalFacts extends RequestFacts {
  /** The old names it used. Grows while the request is read. */
  readonly oldNames: AliasUse[]
}

/** What is known of one request while it passes the stages, and what the decision event is made of. */
export interface Exchange {
  readonly requestId: string
  /** W3C trace id of the caller, where it sent one. */
  readonly traceId: string | undefined
  readonly startedAtMs: number
  facts: CanonicalFacts
  operation?: Operation
  performed?: Performed
  answer?: Answer
}

/** Koa's per-request state. */
export interface ExchangeState {
  exchange: Exchange
}

/** The error shape before an operation is known: by the surface that the path names. */
export function shapeOfPath(path: string): ErrorShape {
  return path.startsWith('/partner/') ? 'partner' : 'plain'
}

/** The trace id of a `traceparent` field (W3C Trace Context section 3.2); undefined for anything malformed. */
export function traceIdOf(traceparent: string | undefined): string | undefined {
  const match = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:$|-)/.exec(traceparent ?? '')
  return match?.[1] === undefined || /^0+$/.test(match[1]) ? undefined : match[1]
}
