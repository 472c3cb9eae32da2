const text = { type: 'string' } as const
type Scheme = Readonly<Record<string, unknown>>
const bearer = (description: string): Scheme => ({
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description,
})
const key = (name: string, description: string): Scheme => ({
  type: 'apiKey',
  in: 'header',
  name,
  description,
})

/** How callers prove who they are, under current names. */
export const securitySchemes: Readonly<Record<string, Scheme>> = {
  UserSessionBearer: bearer('A session of the user surface.'),
  PartnerSessionBearer: bearer('A session of the partner surface.'),
  UserKey: key('X-User-Key', 'A user API key.'),
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
