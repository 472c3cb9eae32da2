import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { HeaderField } from '@gatewright/kernel'
import type { WireResponse } from '../ports.ts'
import type { NodeRequest } from '../request/facts.ts'
import { isRepeatable, missingFields } from '../response/http-response.ts'
import type { Connection } from '../route/steps.ts'

/** The members of a Node response that are used, of HTTP/1 and of the compatibility API of HTTP/2. */
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
  setTimeout?: (...args: never[]) => unknown
  on(event: string, listener: (...args: unknown[]) => void): unknown
}

/** Sets header fields on a response that has not been sent. */
export function setFields(response: NodeResponse, fields: WireResponse['headers']): void {
  for (const [name, values] of fieldsByName(fields)) response.setHeader(name, values)
}

/** Groups header fields by name, because setting one name several times would keep only the last value. */
export function fieldsByName(
  fields: WireResponse['headers'],
): Iterable<[name: string, values: string | string[]]> {
  const found = new Map<string, [string, string | string[]]>()
  for (const [name, value] of fields) {
    const field = found.get(name.toLowerCase())
    if (field) field[1] = [field[1], value].flat()
    else found.set(name.toLowerCase(), [name, value])
  }
  return found.values()
}

const pairsOf = (name: string, value: unknown): HeaderField[] =>
  [value].flat().map(each => [name, each as string])

/**
 * Sets the fields of a gate on a response that an existing handler will write. Links are added to those that the response has.
 * If the gate has links, fields that are missing when the response is sent are added again: the handler may have replaced the
 * `Link` field, and Koa removes all fields for an error.
 */
export function addFields(response: NodeResponse, fields: WireResponse['headers']): void {
  if (response.headersSent) return
  const others = fields.filter(([name]) => !isRepeatable(name))
  setFields(response, others)
  if (others.length === fields.length) return
  const addMissing = (): void => {
    const present = Object.entries(response.getHeaders()).flatMap(([name, value]) => pairsOf(name, value))
    const missing = missingFields(present, fields)
    setFields(response, [...present.filter(([name]) => isRepeatable(name)), ...missing])
  }
  addMissing()
  const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => unknown
  response.writeHead = (status: number, ...rest: unknown[]) => {
    if (response.headersSent) return writeHead(status, ...rest)
    setFields(response, writeHeadFields(rest))
    addMissing()
    return writeHead(status, ...rest.filter(each => typeof each === 'string'))
  }
}

/** Reads the header fields of a `writeHead` call: an object, pairs of name and value, or a flat list of names and values. */
export function writeHeadFields(rest: readonly unknown[]): HeaderField[] {
  const given = rest.find(each => typeof each === 'object' && each !== null) ?? {}
  const entries: unknown[] = Array.isArray(given) ? given : Object.entries(given)
  const list = Array.isArray(entries[0]) ? entries.flat() : entries
  return list.flatMap((name, index) => (index % 2 === 0 ? pairsOf(name as string, list[index + 1]) : []))
}

/** Sends a response, unless one has been sent. */
export function sendWire(response: NodeResponse, { status, headers, body }: WireResponse): void {
  if (response.headersSent) return
  response.statusCode = status
  setFields(response, headers)
  const end = response.end.bind(response) as (text: string) => unknown
  end(body)
}

/** Statuses of responses without a body, whose header fields must not describe one (RFC 9110 section 8.6). */
const BODILESS: readonly number[] = [204, 304]

/**
 * Writes a whole response at once: `writeHead` with a flat list of all fields, which Node neither copies nor sorts, and one `end`.
 * Against a setter for each field, through Koa, this saves a tenth of a guarded read of the host (npm run bench -- host). Does
 * nothing if a response has been sent.
 */
export function writeWire(
  { method }: Pick<NodeRequest, 'method'>,
  response: NodeResponse,
  { status, headers, body, chunks }: WireResponse,
): void {
  if (response.headersSent) return discard(chunks)
  const hasBody = body !== '' || chunks !== undefined
  const fields: string[] = []
  for (const [name, value] of headers) {
    if (name.length === 14 && name.toLowerCase() === 'content-length') continue
    if (hasBody || name.toLowerCase() !== 'content-type') fields.push(name, value)
  }
  if (!BODILESS.includes(status) && !chunks) fields.push('Content-Length', String(Buffer.byteLength(body)))
  const head = response.writeHead.bind(response) as (status: number, fields: string[]) => unknown
  const end = response.end.bind(response) as (text?: string) => unknown
  head(status, fields)
  if (method === 'HEAD') {
    discard(chunks)
    end()
  } else if (chunks) void writeChunks(response as unknown as ServerResponse, chunks)
  else if (hasBody) end(body)
  else end()
}

/** Ends a streamed body of which nothing is sent. */
function discard(chunks: AsyncIterable<string> | undefined): void {
  // The iterator reports its own failures.
  chunks?.[Symbol.asyncIterator]()
    .return?.()
    .catch(() => {})
}

/** How long a client may read nothing of a streamed body, in ms. */
const STALLED_MS = 30_000

/** Sends a body piece by piece. A client that disconnects or stops reading ends the iterator, and a failure of the iterator the connection. */
async function writeChunks(response: ServerResponse, chunks: AsyncIterable<string>): Promise<void> {
  response.setTimeout(STALLED_MS, () => response.destroy())
  try {
    await pipeline(chunks, response)
  } catch {
    // `pipeline` has closed the connection: nothing can be sent any more. The iterator reports its own failures.
  }
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

/**
 * Reports the status of a response that an existing handler writes, once the response has been sent or its connection has ended. A connection
 * that Node has given to a listener of `upgrade` has the status 101, unless a response was written in spite of it.
 */
export function onSent(
  { upgrade, socket }: Pick<NodeRequest, 'upgrade' | 'socket'>,
  response: NodeResponse,
  { ended }: Connection,
  report: (status: number) => void,
): void {
  const reportSent = (): void => report(upgrade && !response.headersSent ? 101 : response.statusCode)
  // If the client has disconnected, the response has emitted `close` already.
  if (ended) return reportSent()
  response.on('close', reportSent)
  // A response without a socket emits nothing.
  if (upgrade) socket.once?.('close', reportSent)
}

/** Sends another response than the one whose header fields have already been set. */
export function sendInstead(response: NodeResponse, output: WireResponse): void {
  for (const name of Object.keys(response.getHeaders())) {
    if (name === 'etag' || name.startsWith('content-')) response.removeHeader(name)
  }
  sendWire(response, output)
}
