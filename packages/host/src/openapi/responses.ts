import type { TObject } from 'typebox/type'
import { isPublicDocument, type Operation } from '../http/operations/operation.ts'
import type { NamedOperation } from './operation-names.ts'
import { headersOf } from './common-components.ts'
import type { Components, Json } from './components.ts'
import { ErrorSchema, OpenResponseSchema, PartnerErrorSchema, SuccessSchema } from './schemas.ts'

/** Component name and meaning of each status. */
const DENIALS: Readonly<Record<number, readonly [name: string, meaning: string]>> = {
  400: ['InvalidRequest', 'Invalid payload or parameters'],
  401: ['Unauthorized', 'Missing or invalid credential, or expired session'],
  403: ['Forbidden', 'Scope missing, or blocked by policy'],
  404: ['NotFound', 'Not found for the current user or session'],
  409: ['Conflict', 'The state of the resource does not allow it'],
  413: ['BodyTooLarge', 'The body is too large'],
  415: ['UnsupportedMediaType', 'The body is not JSON, or has a content coding'],
  429: ['RateLimited', 'Rate limit of the key, session or address, or the same write still running'],
  500: ['InternalError', 'Unexpected error'],
  503: ['Unavailable', 'A dependency is down, or the outcome of an earlier run is unknown'],
}

/** Describes every response of an operation, by status. Statuses of denials follow from its declaration. */
export function responsesOf(operation: NamedOperation, components: Components): Json {
  const denials = denialStatuses(operation).map(status => [
    status,
    denialResponse(operation, status, components),
  ])
  if (operation.redirects) {
    const redirect = { description: 'Go on there', headers: headersOf(components, 'RequestId', 'Location') }
    return { 302: redirect, ...Object.fromEntries(denials) }
  }
  const success = components.shared('responses', operation.name, () =>
    successResponse(operation, 'Success', components),
  )
  const others = (operation.documentStatuses ?? []).map(status => [
    status,
    status === 304
      ? {
          description: 'The client has this document (`If-None-Match`)',
          headers: headersOf(components, 'RequestId'),
        }
      : successResponse(operation, DENIALS[status]?.[1] ?? 'Pending', components),
  ])
  return { 200: success, ...Object.fromEntries([...others, ...denials]) }
}

/** Lists the statuses with which an operation can deny or fail. */
function denialStatuses(operation: Operation): readonly number[] {
  const { surface, method, credential, limit, paths, query } = operation
  const found = new Set<number>([
    500,
    ...(isPublicDocument(operation) ? [] : [503]),
    ...(operation.denies ?? []),
  ])
  const add = (when: boolean, ...statuses: number[]): void => {
    if (when) for (const status of statuses) found.add(status)
  }
  // The body of every method but GET is read and must be valid, even when the operation does not use it.
  add(method !== 'GET', 400, 413, 415)
  add(surface !== 'public' || query !== undefined, 400)
  add(paths[0].includes('{'), 404)
  // Unmet requirements are denied with 409 on the partner surface, and with 403 on the user surface.
  add('write' in operation && operation.requires === 'onboarding' && surface === 'partner', 409)
  add(credential !== 'none', 401, 403, 429)
  add(limit === 'document' || limit === 'token-check' || limit === 'bootstrap', 429)
  // Only the host's own documents are served without HTTPS.
  add(!isPublicDocument(operation), 403)
  // Bootstrap checks a wallet's signature instead of a credential.
  add(surface !== 'public' && credential === 'none', 401, 403, 429)
  const documented = new Set(operation.documentStatuses)
  return [...found].filter(status => !documented.has(status)).sort((a, b) => a - b)
}

/** Describes a denial, shared by all operations with the same error shape. */
function denialResponse({ surface }: Operation, status: number, components: Components): Json {
  const [name, description] = DENIALS[status] as readonly [string, string]
  const prefix = { public: 'Document', user: '', partner: 'Partner' }[surface]
  const headers = headersOf(
    components,
    'RequestId',
    ...(status === 401 ? (['Challenge'] as const) : []),
    ...(status === 429 || status === 503 ? (['RetryAfter'] as const) : []),
  )
  const plain = components.schema(surface === 'partner' ? PartnerErrorSchema : ErrorSchema)
  const schema = surface === 'public' ? plain : orOpenResponse(plain, components)
  return components.shared('responses', prefix + name, () => ({
    description,
    headers,
    content: { 'application/json': { schema } },
  }))
}

function successResponse(operation: Operation, description: string, components: Components): Json {
  const { mediaType = 'application/json' } = operation
  const idempotent = 'write' in operation ? (['IdempotencyExpires', 'IdempotencyReplayed'] as const) : []
  const headers = headersOf(components, 'RequestId', ...idempotent)
  const content = /[/+]json$/.test(mediaType)
    ? {
        schema: schemaOf(operation, components),
        example: exampleOf(operation),
      }
    : { schema: { type: 'string' } }
  return { description, headers, content: { [mediaType]: content } }
}

/**
 * Returns the schema of a response: that of a document itself, otherwise the envelope, on a surface also in the Open Responses
 * form.
 */
function schemaOf(operation: Operation, components: Components): Json {
  if (operation.document) return components.schema(operation.response)
  const plain = envelope(operation, components)
  return operation.surface === 'public' ? plain : orOpenResponse(plain, components)
}

/** Makes the schema of a response in either form: the request decides which. */
function orOpenResponse(plain: Json, components: Components): Json {
  return { oneOf: [plain, components.schema(OpenResponseSchema)] }
}

/** Returns the example of a success, in its envelope unless it is a document. */
function exampleOf({ example: { response }, document, topLevel }: Operation): unknown {
  if (document) return response
  return {
    ok: true,
    data: response,
    summary: 'What happened, in a sentence.',
    errors: [],
    ...(topLevel ? response : {}),
  }
}

/** Makes the schema of the success envelope around `data`. If `topLevel`, the members of `data` are repeated at the top level. */
function envelope(
  { response, topLevel }: { response: TObject; topLevel?: boolean },
  components: Components,
): Json {
  const data = components.schema(response)
  return {
    allOf: [
      components.schema(SuccessSchema),
      { type: 'object', properties: { data } },
      ...(topLevel ? [data] : []),
    ],
  }
}
