import type { HeaderField } from '@gatewright/kernel'
import { denialResponse } from '../response/http-response.ts'
import { failureResponse, type Outcome, type Render } from '../response/outcome.ts'
import { missingIntent, type Intent } from './intent.ts'

/** A result of the Model Context Protocol that has a text for the model. */
interface TextResult {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }]
  readonly isError?: true
  readonly structuredContent?: Readonly<Record<string, unknown>>
}

/** What rendering needs to know about a tool. */
export interface RenderedTool {
  readonly intent: Intent | undefined
  /** Whether the tool declares `outputSchema`: clients then check `structuredContent` of errors, too. */
  readonly hasOutputSchema: boolean
}

/** What a model should do about a denial, by its code. */
const NEXT: Readonly<Record<string, string>> = {
  invalid_request: 'Correct what field names, and call again.',
  policy_blocked:
    'Do not call again with a smaller amount or in parts unless the person says so. Tell the person which limit blocks the call. Once resetsAt has come or the person has raised the limit, call again with the same arguments.',
  approval_required:
    'Nothing happened. Give the person approveUrl. Once they have approved it there, call again with the same arguments.',
  insufficient_scope: 'Ask the person for access to the scope named in scope.',
  rate_limited: 'Wait retryAfterSeconds, then call again with the same arguments.',
  request_in_progress: 'Wait retryAfterSeconds, then call again with the same arguments.',
  outcome_unknown:
    'Call again with the same arguments, never as a new order. If it stays unknown, tell the person operationId, by which the operator decides it.',
  idempotency_key_reused: 'Call again with the arguments of the first call, or name another intent.',
  internal_error:
    'It is not known whether the call took effect. Call again with the same arguments, never as a new order: it runs at most once. If it stays so, tell the person.',
  service_unavailable:
    'It is not known whether the call took effect. Wait retryAfterSeconds, then call again with the same arguments, never as a new order: it runs at most once.',
}

/** The same for a tool that changes nothing. */
const NEXT_OF_READ: Readonly<Record<string, string>> = {
  internal_error: 'Call again later.',
  service_unavailable: 'Wait retryAfterSeconds, then call again.',
}

/**
 * Makes the renderer of the outcomes of a tool: the result of the tool, and denials and failures as results that a model can act on. With
 * `otherwise`, it renders denials that ask for another credential: the client, not the model, gets that credential. `effectIdOf` returns
 * the id of the effect.
 */
export function toolRender(
  tool: RenderedTool,
  otherwise: Render | undefined,
  effectIdOf: () => string | undefined,
): Render {
  return (outcome, context) => {
    if (otherwise && outcome.kind === 'denial' && asksForCredential(outcome.denial))
      return otherwise(outcome, context)
    if (outcome.kind === 'response') {
      const { body = ANSWER_TOO_LONG, ...response } = outcome.response
      return { ...response, body }
    }
    const { status, body } = errorOf(tool, outcome, effectIdOf())
    return { status, headers: [], body: errorResult(body, tool) }
  }
}

/** Whether a denial, or its response, asks for another credential: it is a 401, or has a challenge. */
export const asksForCredential = ({
  status,
  headers = [],
}: {
  readonly status: number
  readonly headers?: readonly HeaderField[]
}): boolean => status === 401 || headers.some(([name]) => name.toLowerCase() === 'www-authenticate')

/** The result of a repeat whose first response was too long to be stored. */
const ANSWER_TOO_LONG: TextResult = {
  content: [
    {
      type: 'text',
      text: 'The call succeeded. Its result was too long to be kept, so that only the first call got it.',
    },
  ],
}

type ErrorOutcome = Exclude<Outcome, { readonly kind: 'response' }>

function errorOf(
  { intent }: RenderedTool,
  outcome: ErrorOutcome,
  effectId: string | undefined,
): { readonly status: number; readonly body: Record<string, unknown> } {
  if (outcome.kind === 'failure') {
    const { status, headers, body } = failureResponse(outcome.error, 'plain')
    const wait = headers.find(([name]) => name === 'Retry-After')?.[1]
    return {
      status,
      body: advised(intent, body as PlainError, {
        retryAfterSeconds: wait && Number(wait),
        operationId: effectId,
      }),
    }
  }
  const { denial } = outcome
  const { status, body } = denialResponse(denial, 'plain')
  const { retryAfterSeconds } = denial
  const plain = body as PlainError
  if (plain.error === 'idempotency_key_required' && intent)
    return { status, body: { error: plain.error, message: missingIntent(intent) } }
  return { status, body: advised(intent, plain, { retryAfterSeconds }) }
}

interface PlainError {
  readonly error: string
}

/** Adds to an error what a model needs beside it. */
function advised(
  intent: Intent | undefined,
  plain: PlainError,
  more: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const given = Object.entries(more).filter(([, value]) => value !== undefined)
  const next = (intent ? undefined : NEXT_OF_READ[plain.error]) ?? NEXT[plain.error]
  return { ...plain, ...Object.fromEntries(given), ...(next === undefined ? {} : { next }) }
}

/** Makes the result of a call that failed. */
function errorResult(body: Record<string, unknown>, { hasOutputSchema }: RenderedTool): TextResult {
  const content: TextResult['content'] = [{ type: 'text', text: JSON.stringify(body) }]
  return hasOutputSchema ? { content, isError: true } : { content, isError: true, structuredContent: body }
}
