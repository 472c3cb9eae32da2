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

/** A signal that aborts when the connection ends before the answer is complete. */
export function goneSignal(response: NodeResponse): AbortSignal {
  const controller = new AbortController()
  response.on('close', () => {
    if (!response.writableEnded) controller.abort()
  })
  return controller.signal
}

/** Sends another answer than the one whose header fields have been set already. */
export function sendInstead(response: NodeResponse, answer: WireAnswer): void {
  for (const name of Object.keys(response.getHeaders())) {
    if (name === 'etag' || name.startsWith('content-')) response.removeHeader(name)
  }
  sendWire(response, answer)
}
