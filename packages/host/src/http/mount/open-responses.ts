import { randomUUID } from 'node:crypto'
import type { HttpResponse, RequestFacts } from '@gatewright/http'

/** Whether the client asked for the response as an Open Responses object (`X-Open-Responses`). */
export function wantsOpenResponses(facts: RequestFacts): boolean {
  return ['1', 'true'].includes(facts.header('x-open-responses') ?? '')
}

/**
 * Wraps a response in an Open Responses object (openresponses.org, version 2026-04-24), with the same status and headers: a
 * message with the summary, and the whole normal body as the output of a function call. Members about a language model have the
 * value for "none". `createdAt` is in Unix seconds.
 */
export function openResponses(
  response: HttpResponse,
  facts: RequestFacts,
  options: { readonly model: string; readonly createdAt: number },
): HttpResponse {
  const body = response.body as { error?: string; message?: string; summary?: string }
  const failed = response.status >= 400
  const summary = (failed ? body.message : body.summary) ?? ''
  const given = facts.header('x-open-responses-call-id') ?? ''
  const callId = /^[\x21-\x7e]{1,200}$/.test(given) ? given : id('call')
  const object = {
    id: id('resp'),
    object: 'response',
    created_at: options.createdAt,
    completed_at: failed ? null : options.createdAt,
    status: failed ? 'failed' : 'completed',
    model: options.model,
    output: [
      {
        type: 'message',
        id: id('msg'),
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: summary, annotations: [], logprobs: [] }],
      },
      {
        type: 'function_call_output',
        id: id('fco'),
        call_id: callId,
        status: 'completed',
        output: JSON.stringify(response.body),
      },
    ],
    error: failed ? { code: body.error ?? 'internal_error', message: summary } : null,
    ...NO_MODEL,
  }
  return { ...response, body: object }
}

const id = (kind: string): string => `${kind}_${randomUUID().replaceAll('-', '')}`

/** Members that the published schema requires, for a response that no language model made. */
const NO_MODEL = {
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
}
