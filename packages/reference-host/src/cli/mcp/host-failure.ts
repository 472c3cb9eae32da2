import { CommandError, escapedLine } from '@gatewright/host/internal/commands'
import { isObject, type MessageId, type RequestMessage } from './message.ts'

/** Why the host gave no result: the bridge sends it to the client as a JSON-RPC error. */
export class HostFailure extends Error {
  /** The HTTP status that fits; as the code of a JSON-RPC error it is outside of the reserved ones. */
  readonly status: number
  readonly data: Readonly<Record<string, unknown>>

  constructor(status: number, message: string, data: Readonly<Record<string, unknown>>) {
    super(message)
    this.status = status
    this.data = data
  }
}

/** A request that got no complete response. `wasSent` is false if the host cannot have read it. */
export class NoAnswer extends Error {
  readonly wasSent: boolean

  constructor(message: string, { wasSent }: { readonly wasSent: boolean }) {
    super(message)
    this.wasSent = wasSent
  }
}

/** Codes of errors before a request was sent. */
const NOT_SENT: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** What an error of `fetch`, or of reading its response, says about the request. */
export function noAnswerOf(host: string, error: unknown): NoAnswer {
  const { message, cause } = error as Error
  const { code, message: why } = (cause ?? {}) as Partial<NodeJS.ErrnoException>
  return new NoAnswer(`${host} does not answer: ${escapedLine(why || message)}`, {
    wasSent: !NOT_SENT.has(code),
  })
}

/** A response of the host that is no JSON-RPC message. */
export interface Refusal {
  readonly host: string
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

/** Says what a refusal of the host means. `grant` says how to get a key with some scopes. */
export function failureOf(
  { host, status, headers, body }: Refusal,
  grant: (missing: readonly string[]) => string,
): HostFailure | NoAnswer {
  const { error, message } = isObject(body) ? body : {}
  const text =
    typeof message === 'string' ? escapedLine(message) : `no message that can be read. Is this a host?`
  const said = `${host} answers ${status}: ${text}`
  if (status >= 500) return new NoAnswer(said, { wasSent: true })
  const code = typeof error === 'string' ? error : 'failed'
  const challenge = headers.get('www-authenticate') ?? ''
  if (status === 403 && challenge.includes('insufficient_scope')) {
    const scopes = /\bscope="([^"]*)"/.exec(challenge)?.[1]?.split(' ').filter(Boolean) ?? []
    const named = escapedLine(scopes.join(' '))
    const next = grant(scopes)
    return new HostFailure(
      403,
      `The key may not do this: it lacks a scope of ${named}. Tell the person: ${next}`,
      { error: 'insufficient_scope', scope: named, next },
    )
  }
  if (status === 404 && code === 'failed')
    return new HostFailure(404, `${host} serves no tools at /mcp: on a live host, MCP=on turns it on`, {
      error: 'not_found',
    })
  const wait = Number(headers.get('retry-after'))
  return new HostFailure(status, said, {
    error: escapedLine(code),
    ...(wait > 0 ? { retryAfterSeconds: wait } : {}),
  })
}

/** The call of a request in words, for a message. */
const calledName = ({ method, params }: RequestMessage): string => {
  const name = method === 'tools/call' ? params?.['name'] : undefined
  return escapedLine(typeof name === 'string' ? name : method)
}

/** Says what a client can do about a request that got no answer, also after repeats. */
export function unknownOutcome(
  request: RequestMessage,
  { message, wasSent }: NoAnswer,
  { mayRepeat }: { readonly mayRepeat: boolean },
): HostFailure {
  if (!wasSent)
    return new HostFailure(
      503,
      `${message}. Nothing happened. Check that the host runs, and call again with the same arguments.`,
      { error: 'no_answer' },
    )
  const unknown = `${message}. It is not known whether ${calledName(request)} took effect.`
  const next = mayRepeat
    ? 'Call again with the same arguments, never as a new order: it takes effect at most once.'
    : 'Look whether it did before you call again.'
  return new HostFailure(503, `${unknown} ${next}`, { error: 'outcome_unknown', next })
}

/** Makes the JSON-RPC error of a request that failed, as a line. Errors other than expected ones say nothing of themselves. */
export function errorLine(id: MessageId | null, error: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: errorOf(error) })
}

function errorOf(error: unknown): object {
  if (error instanceof HostFailure) {
    const { status, message, data } = error
    return { code: status, message, data }
  }
  if (error instanceof CommandError) {
    const { code, message } = error
    return { code: code === 'rate_limited' ? 429 : 401, message, data: { error: code } }
  }
  return { code: 500, message: 'The bridge failed: its standard error stream says how' }
}
