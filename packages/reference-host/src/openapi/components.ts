const text = { type: 'string' } as const
const bearer = (description: string): object => ({
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description,
})
const key = (name: string, description: string): object => ({
  type: 'apiKey',
  in: 'header',
  name,
  description,
})

/** How callers prove who they are. The consumer names stay declared for existing clients. */
export const securitySchemes: Readonly<Record<string, object>> = {
  UserSessionBearer: bearer('A session of the user surface.'),
  ConsumerSessionBearer: bearer('The legacy name of UserSessionBearer.'),
  PartnerSessionBearer: bearer('A session of the partner surface.'),
  UserKey: key('X-User-Key', 'A user API key.'),
  ConsumerKey: key('X-Consumer-Key', 'The legacy name of UserKey.'),
  PartnerKey: key('X-Partner-Key', 'A partner API key. Server to server only.'),
}

const detail = {
  type: 'object',
  required: ['error', 'code', 'message'],
  properties: { error: text, code: text, message: text, field: text },
} as const

/** Shapes that several operations share. */
export const schemas: Readonly<Record<string, object>> = {
  Error: {
    type: 'object',
    required: ['error', 'message'],
    properties: { error: text, message: text, field: text },
  },
  PartnerError: {
    allOf: [
      { $ref: '#/components/schemas/Error' },
      {
        type: 'object',
        required: ['ok', 'data', 'summary', 'errors'],
        properties: {
          ok: { const: false },
          data: { type: 'object', maxProperties: 0 },
          summary: text,
          errors: { type: 'array', items: detail, minItems: 1 },
        },
      },
    ],
  },
}
