import type { Components, Json } from './components.ts'

const bearer = (description: string): Json => ({
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description,
})
const key = (name: string, description: string): Json => ({
  type: 'apiKey',
  in: 'header',
  name,
  description,
})

/** Makes the security schemes under their current names. */
export function securitySchemes({
  directUserKey,
}: {
  readonly directUserKey: boolean
}): Record<string, Json> {
  const orKey = directUserKey ? ' This host also takes a user API key in its place.' : ''
  return {
    UserSessionBearer: bearer(`A session of the user surface.${orKey}`),
    PartnerSessionBearer: bearer('A session of the partner surface.'),
    WebToken: {
      type: 'http',
      scheme: 'bearer',
      description:
        'A web token from `/auth/login` or `/auth/cli/poll`. It makes one key, or one console session.',
    },
    UserKey: key('X-User-Key', 'A user API key.'),
    PartnerKey: key('X-Partner-Key', 'A partner API key. Server to server only.'),
    ProviderSignature: key(
      'webhook-signature',
      'A signature by Standard Webhooks 1.0.0, or in the way of the provider.',
    ),
  }
}

const text = { type: 'string' } as const

/** Response header fields by component name. */
const HEADERS = {
  RequestId: ['X-Request-Id', { description: 'Names this request in logs', schema: text }],
  RetryAfter: [
    'Retry-After',
    { description: 'Seconds to wait before the next try', schema: { type: 'integer', minimum: 1 } },
  ],
  Location: ['Location', { description: 'Where to go on', schema: text }],
  Challenge: [
    'WWW-Authenticate',
    { description: 'The challenge of the `Bearer` scheme (RFC 6750)', schema: text },
  ],
  IdempotencyExpires: [
    'Idempotency-Expires',
    { description: 'Until when the same key returns this answer (an HTTP date)', schema: text },
  ],
  IdempotencyReplayed: [
    'Idempotency-Replayed',
    {
      description: '`true` when the answer is the stored one of an earlier request',
      schema: { type: 'string', enum: ['true'] },
    },
  ],
} as const

/** Makes references to header fields of a response. */
export function headersOf(components: Components, ...names: (keyof typeof HEADERS)[]): Json {
  return Object.fromEntries(
    names.map(name => {
      const [field, described] = HEADERS[name]
      return [field, components.shared('headers', name, () => described)]
    }),
  )
}

const field = (name: string, description: string, schema: Json, required = false): Json => ({
  name,
  in: 'header',
  required,
  description,
  schema,
})

/** The header field of an idempotency key, where a write requires one or takes one. */
export const KEY_FIELDS: Readonly<Record<'required' | 'optional', Json>> = {
  required: field(
    'idempotency-key',
    'Chosen by the client, one per intended write. The same key with the same body gets the first response again',
    { type: 'string', minLength: 8, maxLength: 255 },
    true,
  ),
  optional: field(
    'idempotency-key',
    'Chosen by the client, one for each intent. With it a repeat gets the first response again; without it nothing is replayed',
    { type: 'string', minLength: 8, maxLength: 255 },
  ),
}

const FIELDS = {
  OpenResponses: field(
    'X-Open-Responses',
    'Asks for the answer as an Open Responses object: every answer of the operation, errors too',
    { type: 'string', enum: ['1', 'true'] },
  ),
  OpenResponsesCallId: field(
    'X-Open-Responses-Call-Id',
    'The `call_id` that the Open Responses object is to have. Default: a new one',
    { type: 'string', pattern: '^[!-~]{1,200}$' },
  ),
} as const

/** Makes references to header fields of a request. */
export function fieldsOf(components: Components, ...names: (keyof typeof FIELDS)[]): Json[] {
  return names.map(name => components.shared('parameters', name, () => FIELDS[name]))
}
