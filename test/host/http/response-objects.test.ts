import type { RequestFacts } from '@gatewright/http'
import t from 'tap'
import * as internals from '../../harness/internals.ts'

const { openResponses, wantsOpenResponses } = internals
const factsOf = (fields: Readonly<Record<string, string>>): RequestFacts =>
  ({ header: (name: string) => fields[name] }) as never
type Wrapped = Readonly<Record<string, unknown>> & {
  readonly output: readonly [Record<string, unknown>, Record<string, unknown>]
}
function wrap(status: number, body: object, callId?: string): Wrapped {
  const facts = factsOf(callId === undefined ? {} : { 'x-open-responses-call-id': callId })
  const response = { status, headers: [['a', 'b']] as const, body }
  const wrapped = openResponses(response, facts, { model: 'm', createdAt: 5 })
  t.same([wrapped.status, wrapped.headers], [status, [['a', 'b']]])
  return wrapped.body as Wrapped
}

t.test('wraps on the words 1 and true only', async t => {
  const wants = (text: string): boolean => wantsOpenResponses(factsOf({ 'x-open-responses': text }))
  t.same(['1', 'true', '0', 'yes', ''].map(wants), [true, true, false, false, false])
  t.notOk(wantsOpenResponses(factsOf({})))
})

t.test('wraps a response as a message and the output of a call, without a model', async t => {
  const body = { ok: true, summary: 'Done.' }
  const { id, output, ...rest } = wrap(399, body, 'call-7')
  t.match(id, /^resp_[0-9a-f]{32}$/)
  const [message, call] = output
  t.match(message, { type: 'message', id: /^msg_[0-9a-f]{32}$/, status: 'completed', role: 'assistant' })
  t.same(message['content'], [{ type: 'output_text', text: 'Done.', annotations: [], logprobs: [] }])
  t.match(call, { call_id: 'call-7', output: JSON.stringify(body), status: 'completed', id: /^fco_/ })
  t.same(rest, {
    object: 'response',
    created_at: 5,
    completed_at: 5,
    status: 'completed',
    model: 'm',
    error: null,
    incomplete_details: null,
    previous_response_id: null,
    instructions: null,
    tools: [],
    tool_choice: 'none',
    truncation: 'disabled',
    parallel_tool_calls: false,
    text: { format: { type: 'text' } },
    top_p: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    temperature: 0,
    reasoning: null,
    user: null,
    usage: null,
    max_output_tokens: null,
    max_tool_calls: null,
    store: false,
    background: false,
    service_tier: 'default',
    metadata: {},
    safety_identifier: null,
    prompt_cache_key: null,
  })
})

t.test('wraps a failure with its code and message', async t => {
  const failed = wrap(400, { error: 'invalid_request', message: 'No.', summary: 'x' })
  t.match(failed, {
    status: 'failed',
    completed_at: null,
    error: { code: 'invalid_request', message: 'No.' },
  })
  t.match(failed.output[0], { content: [{ text: 'No.' }] })
  t.match(wrap(500, {}), { error: { code: 'internal_error', message: '' } })
  t.match(wrap(200, {}).output[0], { content: [{ text: '' }] })
})

t.test('takes an id of the call of 1 to 200 printable characters, and makes another one', async t => {
  const idOf = (given?: string): unknown => wrap(200, {}, given).output[1]['call_id']
  for (const given of ['!', '~'.repeat(200)]) t.equal(idOf(given), given)
  for (const given of [undefined, '', 'x'.repeat(201), 'a b']) t.match(idOf(given), /^call_[0-9a-f]{32}$/)
})
