import type { OutgoingHttpHeaders } from 'node:http'
import type { WireAnswer } from './parts.ts'

/** The part of a Node response that is used: HTTP/1 and HTTP/2 (the compatibility API) alike. */
export interface NodeResponse {
  statusCode: number
  readonly headersSent: boolean
  readonly writableEnded: boolean
  setHeader(name: string, value: string | number | readonly string[]): unknown
  removeHeader(name: string): void
  getHeaders(): OutgoingHttpHeaders
  write(...args: never[]): boolean
  end(...args: never[]): unknown
  writeHead(...args: never[]): unknown
  flushHeaders?: () => void
  on(event: string, listener: (...args: never[]) => void): unknown
}

/** Puts header fields on a response that has not been sent. */
export function setFields(response: NodeResponse, fields: WireAnswer['headers']): void {
  for (const [name, value] of fields) response.setHeader(name, value)
}

/** Sends an answer; a client that has gone away gets none. */
export function sendWire(response: NodeResponse, { status, headers, body }: WireAnswer): void {
  if (response.headersSent) return
  response.statusCode = status
  setFields(response, headers)
  const end = response.end.bind(response) as (text: string) => unknown
  end(body)
}

/** Whether the client is still there. */
export interface Connection {
  /** It went away before the answer was complete. */
  readonly ended: boolean
  /** Aborts at that moment. Made when it is first read: most handlers never do, and it costs more than a route. */
  readonly signal: AbortSignal
}

class NodeConnection implements Connection {
  ended = false
  #controller: AbortController | undefined

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.ended) this.#controller.abort()
    return this.#controller.signal
  }

  end(): void {
    this.ended = true
    this.#controller?.abort()
  }
}

/** Watches the connection of a response from now on. */
export function connectionOf(response: NodeResponse): Connection {
  const connection = new NodeConnection()
  response.on('close', () => {
    if (!response.writableEnded) connection.end()
  })
  return connection
}

/** Sends another answer than the one whose header fields have been set already. */
export function sendInstead(response: NodeResponse, answer: WireAnswer): void {
  for (const name of Object.keys(response.getHeaders())) {
    if (name === 'etag' || name.startsWith('content-')) response.removeHeader(name)
  }
  sendWire(response, answer)
}
