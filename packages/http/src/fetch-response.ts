import { addedFields, capturedAnswer, fieldPairs, streamRefusal } from './captured.ts'
import { readUpTo, resumed } from './fetch-body.ts'
import type { WireAnswer } from './parts.ts'
import type { Admitted } from './stages.ts'

/** An answer as a response. */
export function toResponse({ status, headers, body }: WireAnswer): Response {
  const fields = new Headers()
  for (const [name, value] of headers) fields.append(name, value)
  return new Response(body === '' ? null : body, { status, headers: fields })
}

/** Sets fields on a response, whose own headers may be immutable. */
export function withResponseFields(response: Response, fields: WireAnswer['headers']): Response {
  const missing = fields.filter(([name]) => !response.headers.has(name))
  if (missing.length === 0) return response
  const copy = new Response(response.body, response)
  for (const [name, value] of missing) copy.headers.set(name, value)
  return copy
}

/** Ends the run by a response: a body over the limit is left out, an event stream is refused by name. */
export async function capture(
  response: Response,
  operation: string,
  { settle, fail }: Pick<Admitted<never>, 'settle' | 'fail'>,
  limitBytes: number,
): Promise<Response> {
  const { status, headers } = response
  if (headers.get('content-type')?.startsWith('text/event-stream')) {
    void response.body?.cancel()
    return toResponse(await fail(streamRefusal(operation, { constructor: { name: 'text/event-stream' } })))
  }
  const { bytes, rest } = await readUpTo(response.body, limitBytes)
  const given = capturedAnswer(status, fieldPairs(Object.fromEntries(headers)), bytes, limitBytes)
  const answer = await settle(given)
  if (answer.status !== status) return toResponse(answer)
  const fields = new Headers(headers)
  for (const [name, value] of addedFields(given, answer)) fields.set(name, value)
  if (rest) return new Response(resumed(bytes, rest), { status, headers: fields })
  return new Response(bytes.length === 0 ? null : bytes, { status, headers: fields })
}
