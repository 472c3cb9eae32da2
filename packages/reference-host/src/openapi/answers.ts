import * as Type from 'typebox/type'
import type { TObject } from 'typebox/type'
import { examples } from './examples.ts'
import type { Operation } from '../server/operation.ts'

type Json = Readonly<Record<string, unknown>>

const MEANINGS: Readonly<Record<number, string>> = {
  304: 'The client has this document (`If-None-Match`)',
  400: 'Invalid payload or parameters',
  401: 'Missing or invalid credential, or expired session',
  403: 'Scope missing, or blocked by policy',
  404: 'Not found for the current user or session',
  409: 'The state of the resource does not allow it',
  413: 'The body is too large',
  415: 'The body is not JSON',
  429: 'Rate limit of the key, session or address, or the same write still running',
  500: 'Unexpected error',
  503: 'A dependency is down, or the outcome of an earlier run is unknown',
}

/** Every answer that an operation documents, by status. The refusals follow from its rule. */
export function answers(operation: Operation): Json {
  const schema = operation.document ? operation.answer : envelope(operation)
  const refusals = new Set<number>([500, ...(operation.document ? [] : [503]), ...(operation.refuses ?? [])])
  const add = (when: boolean, ...statuses: number[]): void => {
    if (when) for (const status of statuses) refusals.add(status)
  }
  add(operation.body !== undefined, 400, 413, 415)
  add(operation.surface !== 'public', 400)
  add(operation.paths[0].includes('{'), 404)
  add(operation.credential !== 'none', 401, 403, 429)
  add(operation.limit === 'document', 429)
  // A bootstrap proves a wallet instead of a credential.
  add(operation.surface !== 'public' && operation.credential === 'none', 401, 403, 429)
  const error = operation.surface === 'partner' ? 'PartnerError' : 'Error'
  const refusal = { $ref: `#/components/schemas/${error}` }
  return Object.fromEntries([
    ...[200, ...(operation.documentStatuses ?? [])].map(status => [
      status,
      status === 304
        ? { description: MEANINGS[304], headers: REQUEST_ID }
        : success(operation, status === 200 ? 'Success' : (MEANINGS[status] as string), schema),
    ]),
    ...[...refusals]
      .sort((a, b) => a - b)
      .map(status => [status, answer(MEANINGS[status] as string, refusal)]),
  ])
}

const replayed = {
  'Idempotency-Expires': {
    description: 'Until when the same key gets this answer (an HTTP date)',
    schema: { type: 'string' },
  },
  'Idempotency-Replayed': {
    description: '`true` when the answer is the stored one of an earlier request',
    schema: { type: 'string', enum: ['true'] },
  },
}

const REQUEST_ID = {
  'X-Request-Id': { description: 'Names this request in logs', schema: { type: 'string' } },
}

function answer(description: string, schema: object): Json {
  return { description, headers: REQUEST_ID, content: { 'application/json': { schema } } }
}

function success(operation: Operation, description: string, schema: TObject): Json {
  const { mediaType = 'application/json' } = operation
  const headers = { ...REQUEST_ID, ...('write' in operation ? replayed : {}) }
  const content =
    mediaType === 'application/json' ? { schema, ...exampleOf(operation) } : { schema: { type: 'string' } }
  return { description, headers, content: { [mediaType]: content } }
}

/** The example of a success, in its envelope where there is one. */
function exampleOf({ id, document, topLevel }: Operation): { example?: unknown } {
  const data = examples[id]?.answer
  if (data === undefined) return {}
  if (document) return { example: data }
  return {
    example: {
      ok: true,
      data,
      summary: 'What happened, in a sentence.',
      errors: [],
      ...(topLevel ? data : {}),
    },
  }
}

/** The success envelope around `data`, with its fields at top level where clients read them. */
function envelope({ answer: data, topLevel }: Operation): TObject {
  const fields = topLevel ? data.properties : {}
  return Type.Object({
    ...fields,
    ok: Type.Literal(true),
    data,
    summary: Type.String(),
    errors: Type.Array(Type.Unknown(), { maxItems: 0 }),
    next: Type.Optional(Type.String()),
  })
}
