import { CommandError, escapedLine, UsageError } from '@gatewright/host/internal'
import type { Login } from './login-file.ts'

/** A request to a host. */
interface HostRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

/** Codes of errors after which the same request may succeed. */
const PASSING: ReadonlySet<string> = new Set(['no_answer', 'failed', 'rate_limited'])

/** Whether the same request may succeed later: the host did not answer, its response was not its own, or it asked to wait. */
export function isPassing(error: unknown): error is CommandError {
  return error instanceof CommandError && PASSING.has(error.code)
}

/** A response of a host below 400. */
interface HostResponse {
  readonly status: number
  readonly data: Readonly<Record<string, unknown>>
}

const TIMEOUT_MS = 30_000
/** How long the session of one command lives, in seconds. */
const SESSION_SECONDS = 60

/** Reads the origin of a host. Plain HTTP is for this machine only: it would show the key to everybody on the way. */
export function hostArgument(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'https:') return url.origin
  if (url?.protocol === 'http:' && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname))
    return url.origin
  throw new UsageError(
    `HOST must be an address such as https://pay.example, or http:// on this machine, got ${JSON.stringify(text)}`,
  )
}

/**
 * Sends a request to a host. Throws a `CommandError` with the code of a denial; `no_answer` means that the outcome is not known.
 */
export async function call(
  host: string,
  path: string,
  { method = 'POST', body, headers = {} }: HostRequest,
): Promise<HostResponse> {
  const response = await fetch(new URL(path, host), {
    method,
    headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    const { message, cause } = error as Error
    throw new CommandError(
      `${host} does not answer: ${cause instanceof Error ? cause.message : message}`,
      'no_answer',
    )
  })
  const json = (await response.json().catch(() => null)) as Readonly<Record<string, unknown>> | null
  if (response.ok && json !== null)
    return { status: response.status, data: (json['data'] ?? json) as HostResponse['data'] }
  if (response.ok || response.status >= 500)
    throw new CommandError(`${host} answers ${response.status}: ${messageOf(json)}`, 'no_answer')
  throw new CommandError(messageOf(json), typeof json?.['error'] === 'string' ? json['error'] : 'failed')
}

function messageOf(json: Readonly<Record<string, unknown>> | null): string {
  const message = json?.['message']
  // One line: a server must not write lines that look like those of this program.
  return typeof message === 'string'
    ? escapedLine(message)
    : 'the response cannot be read: is this the address of a host?'
}

/** Exchanges the key of a login for a session that lives a minute, and returns its header. */
export async function sessionOf({ host, key }: Login): Promise<Readonly<Record<string, string>>> {
  const { data } = await call(host, '/user/v1/sessions', {
    headers: { 'x-user-key': key },
    body: { ttlSeconds: SESSION_SECONDS },
  })
  return { authorization: `Bearer ${String(data['sessionToken'])}` }
}
