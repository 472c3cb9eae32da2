import type { Denial, Fault } from '@gatewright/kernel'

/** A header field of an answer. */
export type HeaderField = readonly [name: string, value: string]

/** An answer in plain data, before a framework sends it. */
export interface Answer {
  readonly status: number
  readonly headers: readonly HeaderField[]
  readonly body: unknown
}

/** Which error object a caller expects: `plain` is `{ error, message }`, `partner` wraps it in the envelope too. */
export type ErrorShape = 'plain' | 'partner'

type Refusal = Pick<Denial, 'code' | 'status' | 'message' | 'field' | 'retryAfterSeconds' | 'details'> & {
  readonly headers?: readonly HeaderField[]
}

/** Renders an expected "no". `reason` stays behind: it is for the decision event. */
export function denialAnswer(denial: Refusal, shape: ErrorShape): Answer {
  const { code, status, message, field, retryAfterSeconds, details, headers = [] } = denial
  const named = field === undefined ? {} : { field }
  const plain = { error: code, message, ...named, ...details }
  const body =
    shape === 'plain'
      ? plain
      : {
          ...plain,
          ok: false,
          data: {},
          summary: message,
          errors: [{ error: code, code, message, ...named }],
        }
  const has = (name: string): boolean => headers.some(([held]) => held.toLowerCase() === name)
  const added: HeaderField[] = []
  if (retryAfterSeconds !== undefined && !has('retry-after')) {
    added.push(['Retry-After', String(Math.max(1, Math.ceil(retryAfterSeconds)))])
  }
  // RFC 6750 section 3: a 401 always carries a challenge; with no error code when no credential was sent.
  if (status === 401 && !has('www-authenticate')) added.push(['WWW-Authenticate', 'Bearer'])
  return { status, headers: [...headers, ...added], body }
}

/** Renders a broken world: 503 with `Retry-After` and a fixed text, whatever the fault says. */
export function faultAnswer(fault: Fault, shape: ErrorShape): Answer {
  return denialAnswer(
    {
      code: 'service_unavailable',
      status: 503,
      message: 'a service this request needs is not available: try again later',
      retryAfterSeconds: fault.retryAfterSeconds,
    },
    shape,
  )
}

/** Renders an unexpected error: 500 with a fixed text. */
export function errorAnswer(shape: ErrorShape): Answer {
  return denialAnswer({ code: 'internal_error', status: 500, message: 'an unexpected error happened' }, shape)
}
