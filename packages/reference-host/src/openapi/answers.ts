import type { TObject } from 'typebox/type'
import type { Operation } from '../server/operation.ts'
import { headersOf } from './components.ts'
import type { Components, Json } from './named.ts'
import { ErrorShape, OpenResponseShape, PartnerErrorShape, SuccessShape } from './schemas.ts'

/** What a status means, and the name of its component. */
const REFUSALS: Readonly<Record<number, readonly [name: string, meaning: string]>> = {
  400: ['InvalidRequest', 'Invalid payload or parameters'],
  401: ['Unauthorized', 'Missing or invalid credential, or expired session'],
  403: ['Forbidden', 'Scope missing, or blocked by policy'],
  404: ['NotFound', 'Not found for the current user or session'],
  409: ['Conflict', 'The state of the resource does not allow it'],
  413: ['BodyTooLarge', 'The body is too large'],
  415: ['UnsupportedMediaType', 'The body is not JSON'],
  429: ['RateLimited', 'Rate limit of the key, session or address, or the same write still running'],
  500: ['InternalError', 'Unexpected error'],
  503: ['Unavailable', 'A dependency is down, or the outcome of an earlier run is unknown'],
}

/** Every answer that an operation documents, by status. The refusals follow from its rule. */
export function answers(operation: Operation, components: Components): Json {
  const success = components.shared('responses', operation.id.replace('.', '_'), () =>
    successOf(operation, 'Success', components),
  )
  const others = (operation.documentStatuses ?? []).map(status => [
    status,
    status === 304
      ? {
          description: 'The client has this document (`If-None-Match`)',
          headers: headersOf(components, 'RequestId'),
        }
      : successOf(operation, REFUSALS[status]?.[1] ?? '', components),
  ])
  const refused = refusals(operation).map(status => [status, refusal(operation, status, components)])
  return { 200: success, ...Object.fromEntries([...others, ...refused]) }
}

/** The statuses with which an operation can refuse. */
function refusals(operation: Operation): readonly number[] {
  const { surface, method, credential, limit, paths } = operation
  const found = new Set<number>([500, ...(operation.document ? [] : [503]), ...(operation.refuses ?? [])])
  const add = (when: boolean, ...statuses: number[]): void => {
    if (when) for (const status of statuses) found.add(status)
  }
  // Whatever is not a GET has its body read, and refused where it is none, also if nothing of it is used.
  add(method !== 'GET', 400, 413, 415)
  add(surface !== 'public', 400)
  add(paths[0].includes('{'), 404)
  add(credential !== 'none', 401, 403, 429)
  add(limit === 'document', 429)
  // A bootstrap proves a wallet instead of a credential.
  add(surface !== 'public' && credential === 'none', 401, 403, 429)
  const documented = new Set(operation.documentStatuses)
  return [...found].filter(status => !documented.has(status)).sort((a, b) => a - b)
}

/** A refusal, shared by all operations whose errors have the same shape. */
function refusal({ surface }: Operation, status: number, components: Components): Json {
  const [name, description] = REFUSALS[status] as readonly [string, string]
  const prefix = { public: 'Document', user: '', partner: 'Partner' }[surface]
  const headers = headersOf(
    components,
    'RequestId',
    ...(status === 401 ? (['Challenge'] as const) : []),
    ...(status === 429 || status === 503 ? (['RetryAfter'] as const) : []),
  )
  const plain = components.schema(surface === 'partner' ? PartnerErrorShape : ErrorShape)
  const schema = surface === 'public' ? plain : orOpenResponse(plain, components)
  return components.shared('responses', prefix + name, () => ({
    ...{ description, headers, content: { 'application/json': { schema } } },
  }))
}

function successOf(operation: Operation, description: string, components: Components): Json {
  const { mediaType = 'application/json', document } = operation
  const idempotent = 'write' in operation ? (['IdempotencyExpires', 'IdempotencyReplayed'] as const) : []
  const headers = headersOf(components, 'RequestId', ...idempotent)
  const content = /[/+]json$/.test(mediaType)
    ? {
        schema: document
          ? components.schema(operation.answer)
          : orOpenResponse(envelope(operation, components), components),
        example: exampleOf(operation),
      }
    : { schema: { type: 'string' } }
  return { description, headers, content: { [mediaType]: content } }
}

/** Every operation of a surface answers in either form, as the request asks. */
function orOpenResponse(plain: Json, components: Components): Json {
  return { oneOf: [plain, components.schema(OpenResponseShape)] }
}

/** The example of a success, in its envelope where there is one. */
function exampleOf({ example: { answer }, document, topLevel }: Operation): unknown {
  if (document) return answer
  return {
    ok: true,
    data: answer,
    summary: 'What happened, in a sentence.',
    errors: [],
    ...(topLevel ? answer : {}),
  }
}

/** The success envelope around `data`, with its fields at top level where clients read them. */
function envelope(
  { answer, topLevel }: { answer: TObject; topLevel?: boolean },
  components: Components,
): Json {
  const data = components.schema(answer)
  return {
    allOf: [
      components.schema(SuccessShape),
      { type: 'object', properties: { data } },
      ...(topLevel ? [data] : []),
    ],
  }
}
