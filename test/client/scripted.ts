import type { ClientOptions } from '@gatewright/client'

/** A request that a client sent. */
interface SentRequest {
  readonly method: string
  readonly path: string
  readonly headers: Headers
  readonly body: unknown
  readonly redirect: RequestInit['redirect']
}

type Reply = Response | Error | ((request: SentRequest, signal: AbortSignal) => Response | Promise<Response>)

/** A host that returns given replies one after the other, and a clock that waits at once. */
export interface ScriptedHost {
  readonly options: ClientOptions & { readonly clock: { now(): number } }
  readonly requests: readonly SentRequest[]
  /** How long the client waited, in ms. */
  readonly waits: readonly number[]
  /** Moves the clock. */
  pass(ms: number): void
}

/** Starts a host of `replies`. A request after the last one fails. */
export function scriptedHost(...replies: Reply[]): ScriptedHost {
  const requests: SentRequest[] = []
  const waits: number[] = []
  let now = 1_800_000_000_000
  return {
    requests,
    waits,
    pass: ms => void (now += ms),
    options: {
      url: 'https://api.example/base/',
      clock: {
        now: () => now,
        async wait(ms, signal) {
          signal?.throwIfAborted()
          waits.push(ms)
          now += ms
        },
      },
      async fetch(url, init) {
        const request = {
          method: init.method ?? 'GET',
          path: url.replace('https://api.example/base', ''),
          headers: new Headers(init.headers),
          redirect: init.redirect,
          body: typeof init.body === 'string' ? (JSON.parse(init.body) as unknown) : undefined,
        }
        requests.push(request)
        const reply = replies.shift()
        if (reply === undefined) throw new Error(`no reply is left for ${request.method} ${request.path}`)
        if (reply instanceof Error) throw reply
        return typeof reply === 'function' ? reply(request, init.signal as AbortSignal) : reply
      },
    },
  }
}

/** A response as the host sends it. */
export function reply(status: number, body: object, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  })
}

/** A success around `data`. */
export function success(data: object, headers?: Record<string, string>): Response {
  return reply(200, { ok: true, data, summary: 'Done.', errors: [] }, headers)
}

/** The response to an exchange of a key. */
export function session(sessionToken: string): Response {
  return success({ sessionToken, sessionId: 's', expiresAt: '2027-01-15T08:15:00.000Z', scopes: [] })
}

/** An error of the host. */
export function problem(
  status: number,
  error: string,
  more: object = {},
  headers?: Record<string, string>,
): Response {
  return reply(status, { error, message: 'No.', ...more }, headers)
}
