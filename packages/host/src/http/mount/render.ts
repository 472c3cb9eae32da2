import { denialResponse, type HttpResponse, type ErrorShape, type RequestFacts } from '@gatewright/http'
import { type DenialWithHeaders, failureResponse, type Outcome, type Render } from '@gatewright/http/internal'
import type { HeaderField, Clock } from '@gatewright/kernel'
import type { Aliases } from '@gatewright/legacy-alias-router'
import { commonHeaders } from '../cors.ts'
import { openResponses, wantsOpenResponses } from './open-responses.ts'
import { sentence } from '../../records/sentence.ts'
import type { Operation, Success } from '../operations/operation.ts'

/** The services that rendering uses. */
export interface RenderServices {
  readonly aliases: Aliases
  readonly clock: Clock
  /** The name of the service in Open Responses objects. */
  readonly serviceName: string
  /** The page for browsers whose address names no operation; undefined for other clients. Default: none. */
  readonly notFoundPage?: (accept: string | undefined) => HttpResponse | undefined
  /** The address of the page that explains each error code, under the code as anchor. */
  readonly errorsPage: string
}

/** Returns the error shape of an operation: partners get an envelope around errors. */
function errorShape(surface: Operation['surface']): ErrorShape {
  return surface === 'partner' ? 'partner' : 'plain'
}

/** Returns the error shape if no operation matched, by the surface in the path. */
function shapeOfPath(path: string): ErrorShape {
  return path.startsWith('/partner/') || path === '/users/resolve' ? 'partner' : 'plain'
}

/**
 * Creates the renderer of all responses: envelope, legacy fields, errors, the Open Responses form and common
 * header fields.
 */
export function renderer(table: readonly Operation[], services: RenderServices): Render {
  const { aliases, clock, serviceName, notFoundPage = () => undefined, errorsPage } = services
  const served = operationsById(table)
  return (outcome, { facts, operation: id, requestId }) => {
    const page = isUnknownPath(id, facts, outcome) ? notFoundPage(facts.header('accept')) : undefined
    if (page) return { ...page, headers: [...page.headers, ['X-Request-Id', requestId]] }
    const operation = id === undefined ? undefined : served(id, facts.path)
    const surface = operation?.surface
    const shape = surface ? errorShape(surface) : shapeOfPath(facts.path)
    const plain =
      operation && isSuccess(operation, outcome)
        ? withEnvelope(operation, outcome, aliases)
        : withoutEnvelope(outcome, shape, {
            requestId: isStoredDenial(operation, outcome) ? undefined : requestId,
            errorsPage,
          })
    const isDocument = operation?.document === true && outcome.kind === 'response'
    const wrap = surface !== undefined && surface !== 'public' && !isDocument && wantsOpenResponses(facts)
    const createdAt = Math.floor(clock.now() / 1000)
    const response = wrap
      ? openResponses(plain, facts, { model: `${serviceName}.${surface}`, createdAt })
      : plain
    return {
      ...response,
      headers: [
        ...response.headers,
        ...missingHeaders(response),
        ...(hasRequestId(response) ? [] : [['X-Request-Id', requestId] as const]),
      ],
    }
  }
}

/** Whether an operation repeats the request id of its client instead of the host's own. */
const hasRequestId = ({ headers }: HttpResponse): boolean =>
  headers.some(([name]) => name.toLowerCase() === 'x-request-id')

/** Whether a request reads an address that no operation has. */
function isUnknownPath(id: string | undefined, { method }: RequestFacts, outcome: Outcome): boolean {
  const isRead = method === 'GET' || method === 'HEAD'
  return id === undefined && isRead && outcome.kind === 'denial' && outcome.denial.code === 'not_found'
}

/** Returns a function that finds an operation by its id. If both surfaces have the id, the path decides. */
function operationsById(table: readonly Operation[]): (id: string, path: string) => Operation | undefined {
  const byId = new Map<string, Operation>()
  for (const operation of table) {
    byId.set(operation.surface === 'partner' ? `partner ${operation.id}` : operation.id, operation)
  }
  return (id, path) => {
    const partner = byId.get(`partner ${id}`)
    return partner && (shapeOfPath(path) === 'partner' || !byId.has(id)) ? partner : byId.get(id)
  }
}

function isSuccess({ document }: Operation, outcome: Outcome): outcome is Outcome & { kind: 'response' } {
  return outcome.kind === 'response' && document !== true
}

/** Puts a success into the envelope, with top-level members and legacy fields where clients read them. */
function withEnvelope(
  { topLevel }: Operation,
  { response }: Outcome & { kind: 'response' },
  aliases: Aliases,
): HttpResponse {
  const success = response.body as Success
  const data = aliases.withLegacyFields(success.data)
  const body = {
    ok: true,
    data,
    summary: success.summary,
    errors: [],
    ...(success.ignored === undefined ? {} : { ignored: success.ignored }),
    ...(success.next === undefined ? {} : { next: success.next }),
    ...(topLevel ? data : {}),
  }
  return { ...response, body }
}

/**
 * Whether a denial may be stored with an idempotency key. Its body has no request id: that of a replay is the same to the byte. The
 * header field has it.
 */
function isStoredDenial(operation: Operation | undefined, outcome: Outcome): boolean {
  if (operation === undefined || !('write' in operation) || outcome.kind !== 'denial') return false
  return outcome.denial.status === 404 || outcome.denial.status === 409
}

function withoutEnvelope(
  outcome: Outcome,
  shape: ErrorShape,
  { requestId, errorsPage }: { readonly requestId: string | undefined; readonly errorsPage: string },
): HttpResponse {
  if (outcome.kind === 'response') return outcome.response
  const response =
    outcome.kind === 'denial'
      ? denialResponse(inSentences(outcome.denial), shape)
      : failureResponse(outcome.error, shape)
  const body = response.body as { readonly error: string; readonly rule?: unknown }
  const more = { ...(requestId === undefined ? {} : { requestId }), docs: `${errorsPage}#${anchorOf(body)}` }
  return { ...response, body: { ...body, ...more } }
}

/** The anchor of an error on the page of errors: its code, and of a denial by a rule also the rule. */
function anchorOf({ error, rule }: { readonly error: string; readonly rule?: unknown }): string {
  return error === 'policy_blocked' && typeof rule === 'string' ? `${error}.${rule}` : error
}

/** Returns a denial whose message is a sentence for people and models. */
export function inSentences(denial: DenialWithHeaders): DenialWithHeaders {
  const message = sentence(denial.message, denial.field)
  return { ...denial, message }
}

/** Returns the common header fields that a response does not set itself. */
function missingHeaders({ headers }: HttpResponse): readonly HeaderField[] {
  if (headers.length === 0) return commonHeaders
  const present = new Set(headers.map(([name]) => name.toLowerCase()))
  return commonHeaders.filter(([name]) => !present.has(name.toLowerCase()))
}
