/** Why a call failed, for a page to show. */
export interface Problem {
  /** The HTTP status; 0 without a response. */
  readonly status: number
  /** The error code of docs/errors.md; `unreachable` without a response. */
  readonly code: string
  /** The message of the host. */
  readonly message: string
  readonly field?: string
  readonly rule?: string
  /** For support: finds the request in the logs of the host. */
  readonly requestId: string | null
  readonly retryAfterSeconds: number | null
}

/** The response to a call of the host's API. */
export type Reply<T> =
  | { readonly ok: true; readonly data: T }
  | { readonly ok: false; readonly problem: Problem }

/** Options of `call`. */
export interface CallOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly body?: unknown
  /** A bearer token. It is sent in the `Authorization` field only. */
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

const TIMEOUT_MS = 20_000

/** Calls the host's API. Never throws: a host that cannot be reached is a problem too. */
export async function call<T>(path: string, options: CallOptions = {}): Promise<Reply<T>> {
  const { body, token, signal } = options
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  try {
    const response = await fetch(path, {
      method: options.method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
    const text = await response.text()
    const json = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
    return response.ok
      ? { ok: true, data: (json['data'] ?? json) as T }
      : { ok: false, problem: problemOf(response, json) }
  } catch {
    return { ok: false, problem: UNREACHABLE }
  }
}

export const UNREACHABLE: Problem = {
  status: 0,
  code: 'unreachable',
  message: 'no response',
  requestId: null,
  retryAfterSeconds: null,
}

export function problemOf({ status, headers }: Response, json: Record<string, unknown>): Problem {
  const text = (name: string): string | undefined => {
    const value = json[name]
    return typeof value === 'string' ? value : undefined
  }
  const [field, rule] = [text('field'), text('rule')]
  const retryAfter = Number(headers.get('retry-after') ?? Number.NaN)
  return {
    status,
    code: text('error') ?? 'unknown',
    message: text('message') ?? '',
    ...(field === undefined ? {} : { field }),
    ...(rule === undefined ? {} : { rule }),
    requestId: headers.get('x-request-id'),
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : null,
  }
}

/** Describes a problem in one or two sentences: what went wrong and what helps. */
export function sentence({ status, message, retryAfterSeconds }: Problem): string {
  const soon =
    retryAfterSeconds === null ? 'Try again in a moment.' : `Try again in ${seconds(retryAfterSeconds)}.`
  if (status === 0) return 'The host did not respond. Check your connection and try again.'
  if (status === 429) return `Too many requests came from your network. ${soon}`
  if (status === 503) return `The host cannot do this right now. ${soon}`
  if (status >= 500)
    return 'The host made a mistake. Try again, and send the request id to support if it happens again.'
  return `The host refused: ${message}${message.endsWith('.') ? '' : '.'}`
}

const seconds = (count: number): string => (count === 1 ? '1 second' : `${count} seconds`)
