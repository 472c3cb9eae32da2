import * as Type from 'typebox/type'
import { component } from '../schemas/fields.ts'

const errorMembers = {
  error: Type.String({ description: 'The code, for programs. It does not change' }),
  message: Type.String({ description: 'What was wrong, for people. It may change' }),
  field: Type.Optional(Type.String({ description: 'The member, parameter or header field that was wrong' })),
}

/** Members that say where to look. */
const helpMembers = {
  requestId: Type.Optional(
    Type.String({ description: 'The `X-Request-Id`. Absent where an idempotency key stores the error' }),
  ),
  docs: Type.Optional(Type.String({ description: 'A page that explains the code' })),
}

/** Schema of every error. Some codes add members, such as `scope` or `limit`. */
export const ErrorSchema = Type.Object(
  { ...errorMembers, ...helpMembers },
  component('Error', 'Why a request failed. Some codes add members, such as `scope` or `limit`'),
)

const ErrorItem = Type.Object(
  { ...errorMembers, code: Type.String({ description: 'The same as `error`' }) },
  component('ErrorItem', 'One reason of an error, as the envelope lists it'),
)

/** Schema of an error in the envelope of the partner surface. */
export const PartnerErrorSchema = Type.Object(
  {
    ...errorMembers,
    ...helpMembers,
    ok: Type.Literal(false),
    data: Type.Object({}, { maxProperties: 0 }),
    summary: Type.String({ description: 'The same as `message`' }),
    errors: Type.Array(ErrorItem, { minItems: 1 }),
  },
  component('PartnerError', 'Why a request of the partner surface failed, in the envelope of all answers'),
)

/** Schema of the envelope of every success, without its `data`. */
export const SuccessSchema = Type.Object(
  {
    ok: Type.Literal(true),
    data: Type.Object({}, { description: 'What the operation answers' }),
    summary: Type.String({ description: 'What happened, in a sentence for people' }),
    errors: Type.Array(Type.Unknown(), { maxItems: 0 }),
    ignored: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), {
        minItems: 1,
        maxItems: 20,
        description:
          'Members of the body and query parameters of this request that the operation does not know and did not read. ' +
          'Inside an object with its path (`address.lines`), inside the objects of a list once for all (`items[].note`)',
      }),
    ),
    next: Type.Optional(Type.String({ description: 'What a client usually does next' })),
  },
  component('Success', 'The envelope of every success'),
)

const OutputMessage = Type.Object(
  {
    type: Type.Literal('message'),
    id: Type.String(),
    status: Type.Literal('completed'),
    role: Type.Literal('assistant'),
    content: Type.Array(
      Type.Object({
        type: Type.Literal('output_text'),
        text: Type.String({ description: 'The summary of a success, the message of an error' }),
        annotations: Type.Array(Type.Unknown(), { maxItems: 0 }),
        logprobs: Type.Array(Type.Unknown(), { maxItems: 0 }),
      }),
      { minItems: 1, maxItems: 1 },
    ),
  },
  component('OpenResponseMessage', 'The answer in a sentence'),
)

const CallOutput = Type.Object(
  {
    type: Type.Literal('function_call_output'),
    id: Type.String(),
    call_id: Type.String({ description: 'What `X-Open-Responses-Call-Id` said, else a new id' }),
    status: Type.Literal('completed'),
    output: Type.String({ description: 'The whole answer as it is without the header field, as JSON text' }),
  },
  component('OpenResponseCallOutput', 'The whole answer as the output of a function call'),
)

/** Members about a language model, with the values for "none". */
const noModel = {
  incomplete_details: Type.Null(),
  previous_response_id: Type.Null(),
  instructions: Type.Null(),
  tools: Type.Array(Type.Unknown(), { maxItems: 0 }),
  tool_choice: Type.Literal('none'),
  truncation: Type.Literal('disabled'),
  parallel_tool_calls: Type.Literal(false),
  text: Type.Object({ format: Type.Object({ type: Type.Literal('text') }) }),
  top_p: Type.Literal(1),
  presence_penalty: Type.Literal(0),
  frequency_penalty: Type.Literal(0),
  top_logprobs: Type.Literal(0),
  temperature: Type.Literal(0),
  reasoning: Type.Null(),
  user: Type.Null(),
  usage: Type.Null(),
  max_output_tokens: Type.Null(),
  max_tool_calls: Type.Null(),
  store: Type.Literal(false),
  background: Type.Literal(false),
  service_tier: Type.Literal('default'),
  metadata: Type.Object({}, { maxProperties: 0 }),
  safety_identifier: Type.Null(),
  prompt_cache_key: Type.Null(),
}

/** Schema of the result of `openResponses`. */
export const OpenResponseSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('response'),
    created_at: Type.Integer({ description: 'Unix seconds' }),
    completed_at: Type.Union([Type.Integer(), Type.Null()], { description: 'Null for an error' }),
    status: Type.Enum(['completed', 'failed']),
    model: Type.String({ description: 'The name of the service and the surface' }),
    output: Type.Array(Type.Union([OutputMessage, CallOutput]), {
      minItems: 2,
      maxItems: 2,
      description: 'The answer in two forms: as a message, then as the output of a function call',
    }),
    error: Type.Union([Type.Object({ code: Type.String(), message: Type.String() }), Type.Null()]),
    ...noModel,
  },
  component(
    'OpenResponse',
    'Any answer as an Open Responses object (openresponses.org, version 2026-04-24): what is sent when ' +
      '`X-Open-Responses` asks for it. Members about a language model have the value that says "none"',
  ),
)
