import { addedFields, capturedResponse, fieldPairs, streamError } from './captured-response.ts'
import { readUpTo, resumeStream } from './fetch-body.ts'
import type { WireResponse } from '../ports.ts'
import { missingFields } from '../response/http-response.ts'
import type { Run } from '../route/run.ts'

/** Converts a response to a `Response`. */
export function toResponse({ status, headers, body }: WireResponse): Response {
  const fields = new Headers()
  for (const [name, value] of headers) fields.append(name, value)
  return new Response(body === '' ? null : body, { status, headers: fields })
}

/**
 * Adds header fields to a response, whose headers may be immutable. Fields that it has already are unchanged; links are added. A
 * response that cannot be copied is returned as it is: that of a WebSocket, which belongs to its connection, a network error, and one whose
 * body has a reader.
 */
export function withResponseFields(response: Response, fields: WireResponse['headers']): Response {
  // Some libraries replace the global `Response` by one that would copy a network error as a success.
  if (response?.status === 101 || response?.type === 'error') return response
  try {
    const missing = missingFields([...response.headers], fields)
    if (missing.length === 0) return response
    const copy = new Response(response.body, response)
    for (const [name, value] of missing) copy.headers.append(name, value)
    return copy
  } catch {
    return response
  }
}

/** Ends the run with a response. A body above the limit is not stored; an event stream is an error that names the operation. */
export async function capture(
  response: Response,
  operation: string,
  run: Run<unknown>,
  limitBytes: number,
): Promise<Response> {
  const { status, headers } = response
  if (headers.get('content-type')?.startsWith('text/event-stream')) {
    // The body may have failed already, or have another reader.
    void response.body?.cancel().catch(() => {})
    const error = streamError(operation, { constructor: { name: 'text/event-stream' } })
    return toResponse(await run.finish({ kind: 'failure', error }))
  }
  let read: Awaited<ReturnType<typeof readUpTo>>
  try {
    read = await readUpTo(response.body, limitBytes)
  } catch (error) {
    // The handler has run, so the outcome is recorded as unknown.
    return toResponse(await run.finish({ kind: 'failure', error }))
  }
  const { bytes, rest } = read
  const captured = capturedResponse(status, fieldPairs(Object.fromEntries(headers)), bytes, limitBytes)
  const output = await run.finishCaptured(captured)
  if (output.status !== status) return toResponse(output)
  const fields = new Headers(headers)
  for (const [name, value] of addedFields(captured, output)) fields.set(name, value)
  if (rest) return new Response(resumeStream(bytes, rest), { status, headers: fields })
  return new Response(bytes.length === 0 ? null : bytes, { status, headers: fields })
}
