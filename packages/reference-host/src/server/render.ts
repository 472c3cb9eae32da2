import {
  denialAnswer,
  failureAnswer,
  type Answer,
  type ErrorShape,
  type HeaderField,
  type Outcome,
  type Render,
} from '@gatewright/http'
import type { Clock } from '@gatewright/kernel'
import type { Aliases } from '@gatewright/legacy-alias-router'
import { commonHeaders } from './cors.ts'
import { openResponses, wantsOpenResponses } from './open-responses.ts'
import type { Operation, Success } from './operation.ts'

/** What rendering works with. */
export interface RenderServices {
  readonly aliases: Aliases
  readonly clock: Clock
  /** Names the service in Open Responses answers. */
  readonly serviceName: string
}

/** The shape of errors on an operation: partners get the envelope around them (contract section 2). */
function errorShape(surface: Operation['surface']): ErrorShape {
  return surface === 'partner' ? 'partner' : 'plain'
}

/** The error shape where no operation is known: by the surface that the path names. */
function shapeOfPath(path: string): ErrorShape {
  return path.startsWith('/partner/') || path === '/users/resolve' ? 'partner' : 'plain'
}

/** Makes every answer of the host: envelope, legacy twins, errors, the Open Responses form, and the fields of all answers. */
export function renderer(table: readonly Operation[], services: RenderServices): Render {
  const { aliases, clock, serviceName } = services
  const byId = new Map(table.map(operation => [operation.id, operation]))
  return (outcome, { facts, operation: id, requestId }) => {
    const operation = id === undefined ? undefined : byId.get(id)
    const surface = operation?.surface
    const shape = surface ? errorShape(surface) : shapeOfPath(facts.path)
    const plain =
      operation && isSuccess(operation, outcome)
        ? enveloped(operation, outcome, aliases)
        : bare(outcome, shape)
    const wrap = surface !== undefined && surface !== 'public' && wantsOpenResponses(facts)
    const createdAt = Math.floor(clock.now() / 1000)
    const answer = wrap
      ? openResponses(plain, facts, { model: `${serviceName}.${surface}`, createdAt })
      : plain
    return { ...answer, headers: [...answer.headers, ...missing(answer), ['X-Request-Id', requestId]] }
  }
}

function isSuccess({ document }: Operation, outcome: Outcome): outcome is Outcome & { kind: 'answer' } {
  return outcome.kind === 'answer' && document !== true
}

/** Puts what an operation came to into the envelope: fields at top level where clients read them, legacy twins. */
function enveloped(
  { topLevel }: Operation,
  { answer }: Outcome & { kind: 'answer' },
  aliases: Aliases,
): Answer {
  const success = answer.body as Success
  const data = aliases.withLegacyFields(success.data)
  const body = {
    ok: true,
    data,
    summary: success.summary,
    errors: [],
    ...(success.next === undefined ? {} : { next: success.next }),
    ...(topLevel ? data : {}),
  }
  return { ...answer, body }
}

function bare(outcome: Outcome, shape: ErrorShape): Answer {
  if (outcome.kind === 'answer') return outcome.answer
  return outcome.kind === 'denial' ? denialAnswer(outcome.denial, shape) : failureAnswer(outcome.error, shape)
}

/** The fields of every answer that this one does not set itself. */
function missing({ headers }: Answer): readonly HeaderField[] {
  if (headers.length === 0) return commonHeaders
  const held = new Set(headers.map(([name]) => name.toLowerCase()))
  return commonHeaders.filter(([name]) => !held.has(name.toLowerCase()))
}
