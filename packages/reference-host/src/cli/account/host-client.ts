import { readText, withDeadline } from '@gatewright/kernel/internal'
import { CommandError, escapedLine, UsageError } from '@gatewright/host/internal/commands'
import type { Login } from './login-file.ts'

/** A request to a host. */
interface HostRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  /** How long it may take, in ms. Default 30 000; other values are for tests. */
  readonly timeoutMs?: number
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
/** How much of a response is read, in bytes. A page of a list has less than 1 MB. */
const MAX_BYTES = 10_000_000
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
  { method = 'POST', body, headers = {}, timeoutMs = TIMEOUT_MS }: HostRequest,
): Promise<HostResponse> {
  const { status, ok, json } = await withDeadline({ ms: timeoutMs }, async signal => {
    const response = await fetch(new URL(path, host), {
      method,
      headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
      redirect: 'error',
      signal,
    })
    return {
      status: response.status,
      ok: response.ok,
      json: jsonObjectOf(await readText(response, MAX_BYTES)),
    }
  }).catch((error: unknown) => {
    const { message, cause } = error as Error
    throw new CommandError(
      `${host} does not answer: ${escapedLine(cause instanceof Error ? cause.message : message)}`,
      'no_answer',
    )
  })
  const data = json && (json['data'] ?? json)
  if (ok && isObject(data)) return { status, data }
  if (ok || status >= 500)
    throw new CommandError(`${host} answers ${status}: ${messageOf(json)}`, 'no_answer')
  const code = json?.['error']
  throw new CommandError(messageOf(json), typeof code === 'string' ? escapedLine(code) : 'failed')
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Parses the body of a response. Undefined for what is not a JSON object. */
function jsonObjectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function messageOf(json: Readonly<Record<string, unknown>> | undefined): string {
  const message = json?.['message']
  // One line: a server must not write lines that look like those of this program.
  return typeof message === 'string'
    ? escapedLine(message)
    : 'the response cannot be read: is this the address of a host?'
}

/** Reads members of a response that must be texts. Throws a `CommandError` that names one that is not. */
export function textsOf<Name extends string>(
  host: string,
  data: unknown,
  names: readonly Name[],
): Readonly<Record<Name, string>> {
  const wrong = isObject(data) ? names.find(name => typeof data[name] !== 'string') : names[0]
  if (wrong === undefined) return data as Readonly<Record<Name, string>>
  throw new CommandError(`${host} answers without ${wrong}: is this the address of a host?`, 'failed')
}

/** Reads a list of a response. Throws a `CommandError` for anything else than a list of objects. */
export function rowsOf(
  host: string,
  data: HostResponse['data'],
  name: string,
): readonly Readonly<Record<string, unknown>>[] {
  const rows = data[name]
  if (Array.isArray(rows) && rows.every(isObject)) return rows
  throw new CommandError(`${host} answers without ${name}: is this the address of a host?`, 'failed')
}

/** Reads the labels of the account's keys, by their ids: of the latest 100. */
export async function keyLabelsOf(
  host: string,
  headers: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, string>> {
  const { data } = await call(host, '/user/v1/keys?limit=100', { method: 'GET', headers })
  const labels = new Map<string, string>()
  for (const { id, label, console } of rowsOf(host, data, 'keys')) {
    const name = console === true ? 'Console' : label
    if (typeof id === 'string' && typeof name === 'string') labels.set(id, name)
  }
  return labels
}

/** Exchanges the key of a login for a session that lives a minute, and returns its header. */
export async function sessionOf({ host, key }: Login): Promise<Readonly<Record<string, string>>> {
  const { data } = await call(host, '/user/v1/sessions', {
    headers: { 'x-user-key': key },
    body: { ttlSeconds: SESSION_SECONDS },
  })
  return { authorization: `Bearer ${textsOf(host, data, ['sessionToken']).sessionToken}` }
}
