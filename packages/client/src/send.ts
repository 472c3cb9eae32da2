import { withDeadline } from './clock.ts'
import type { ClientSettings } from './options.ts'
import { GatewrightError, noResponse, problemOf, type Problem } from './problem.ts'
import { mayRetry, waitBefore } from './retries.ts'

/** One request, whatever the number of its attempts. */
export interface Sending {
  readonly method: string
  readonly url: string
  readonly body: string | undefined
  readonly headers: Readonly<Record<string, string>>
  /** What a success is: a JSON object, or a text of another media type. */
  readonly accepts: 'json' | 'text'
  /** Whether a repeat has no second effect. */
  readonly repeatable: boolean
  readonly idempotencyKey: string | undefined
  readonly signal: AbortSignal | undefined
}

/** A success, with what its JSON says, or its text. */
export interface Received {
  readonly response: Response
  readonly body: unknown
}

/**
 * Sends a request until it succeeds or may not be repeated. Throws a `GatewrightError` for its last problem, and the reason of the signal when
 * it aborts, also while it waits.
 */
export async function send(sending: Sending, settings: ClientSettings): Promise<Received> {
  const { retries, maxRetryAfterSeconds, clock } = settings
  for (let retry = 1; ; retry++) {
    const { received, problem, cause } = await attempt(sending, settings)
    if (received) return received
    const isLast =
      retry > retries ||
      (problem.retryAfterSeconds ?? 0) > maxRetryAfterSeconds ||
      !mayRetry(problem, sending.repeatable)
    if (isLast) throw new GatewrightError(problem, sending.idempotencyKey, cause)
    await clock.wait(waitBefore(retry, problem, Math.random()), sending.signal)
  }
}

type Outcome =
  | { readonly received: Received; readonly problem?: undefined; readonly cause?: undefined }
  | { readonly received?: undefined; readonly problem: Problem; readonly cause?: unknown }

async function attempt(sending: Sending, { fetch, timeoutMs, clock }: ClientSettings): Promise<Outcome> {
  const { method, url, body, headers, signal } = sending
  try {
    const { response, read } = await withDeadline({ ms: timeoutMs, signal }, async ending => {
      const response = await fetch(url, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
        // An API key must not follow to another address.
        redirect: 'manual',
        signal: ending,
      })
      return { response, read: await readBody(response) }
    })
    const expected = sending.accepts === 'text' ? typeof read === 'string' : isObject(read)
    if (response.ok && expected) return { received: { response, body: read } }
    return { problem: problemOf(response, read, clock.now()) }
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    // An error of others may show what was sent, in any of its texts.
    if (showsCredential(error, headers)) return { problem: noResponse('the error shows a credential') }
    return { problem: noResponse(error), cause: error }
  }
}

/** Whether an error has the credential of a request in a text. */
function showsCredential(error: unknown, headers: Sending['headers']): boolean {
  const { authorization, 'x-user-key': userKey, 'x-partner-key': partnerKey } = headers
  const credential = authorization?.slice('Bearer '.length) ?? userKey ?? partnerKey
  return credential !== undefined && textsOf(error).includes(credential)
}

/** What a log would write of an error: its texts, and those of its members and causes, as far as JSON has them. */
function textsOf(error: unknown, depth = 0): string {
  if (typeof error !== 'object' || error === null || depth > 4) return String(error)
  return Object.getOwnPropertyNames(error)
    .map(name => textsOf((error as Readonly<Record<string, unknown>>)[name], depth + 1))
    .join('\n')
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

/** Reads JSON, or the text of another media type. Undefined for what should be JSON and is not. */
async function readBody(response: Response): Promise<unknown> {
  const text = await response.text()
  if (!/[/+]json\b/.test(response.headers.get('content-type') ?? '')) return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
