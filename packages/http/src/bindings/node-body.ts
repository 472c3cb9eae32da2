import { allow, type Verdict } from '@gatewright/kernel'
import { isJson, notJson, parseJsonObject } from '../request/body.ts'
import { readRawBody } from '../request/raw-body.ts'
import { deny } from '../codes.ts'
import type { Settings } from '../options.ts'
import type { NodeRequest } from '../request/facts.ts'
import { validateJson } from '../request/validate-json.ts'

/**
 * How the bytes of a request body are read; there is no default.
 * `stream`: the gate reads them itself. Mount it before any parser; the handler's `body` is then the parsed object.
 * `kept`: a parser has run before and kept the bytes, see the binding.
 * `parsed`: the fallback. `JSON.stringify` of the parsed body replaces the bytes, so two spellings of a value are the same payload.
 */
export type BodyChoice = 'stream' | 'kept' | 'parsed'
export const BODY_CHOICES: readonly BodyChoice[] = ['stream', 'kept', 'parsed']

/** How the body of a framework's request is read. */
export interface BodyAccess<R> {
  node(request: R): NodeRequest
  /** Returns the bytes that a parser kept. */
  kept(request: R): Uint8Array | undefined
  /** How the framework's parser keeps the bytes, for error messages. */
  readonly keeping: string
  /** The name of the usual parser, for error messages. */
  readonly parser: string
  /** Whether a parser has run before, also for a request without a body. */
  hasParser(request: R): boolean
  parsed(request: R): unknown
  assign(request: R, value: unknown): void
}

interface BodyReader<R> {
  /** Notes a route that is mounted. */
  mounted(route: { readonly readsBody: boolean }): void
  /** Says once, at a request to any route, that a parser before the gate will read bodies that a mounted route reads. */
  enter(request: R): void
  /** Reads the bytes. Denials: `payload_too_large`, `invalid_request`, `unsupported_media_type`. */
  bytes(request: R): Promise<Verdict<Uint8Array>>
  /** Reads the bytes for an existing handler. With `stream`, also sets the request's `body` to the parsed object, because no parser has run. */
  forHandler(request: R): Promise<Verdict<Uint8Array>>
}

/** Makes the functions that read request bodies. */
export function bodyReader<R>(
  body: BodyChoice,
  { bodyLimitBytes: limitBytes, hints }: Pick<Settings, 'bodyLimitBytes' | 'hints'>,
  access: BodyAccess<R>,
): BodyReader<R> {
  const bytes = async (request: R): Promise<Verdict<Uint8Array>> => {
    const node = access.node(request)
    if (body === 'kept') return keptBytes(request, access)
    if (body === 'parsed') return parsedBytes(access.parsed(request), node, access.parser)
    if (!node.readableEnded) return readRawBody(node, limitBytes)
    throw new TypeError(`body 'stream': another parser has read this request. ${parsedBefore(access)}`)
  }
  let mayFail = false
  return {
    mounted({ readsBody }) {
      mayFail ||= readsBody && body === 'stream'
    },
    enter(request) {
      if (!mayFail || !access.hasParser(request)) return
      mayFail = false
      hints.mistake(
        'parser',
        `a body parser runs before the routes of the gate, which read bodies themselves, so that writes will fail. ${parsedBefore(access)}`,
      )
    },
    bytes,
    async forHandler(request) {
      const read = await bytes(request)
      if (!read.ok || body !== 'stream') return read
      const parsed = parseJsonObject(read.value, access.node(request).headers['content-type'])
      if (!parsed.ok) return parsed
      access.assign(request, parsed.value)
      return read
    },
  }
}

/** What to write where a parser runs before the gate. */
const parsedBefore = ({ keeping, parser }: Pick<BodyAccess<never>, 'keeping' | 'parser'>): string =>
  `Mount the routes before ${parser}, or keep the bytes: ${keeping} and body: 'kept'`

/**
 * Serializes a parsed body, for `body: 'parsed'`. A missing body has no bytes. Denials: `invalid_request`, as
 * `parseJsonObject`, and `unsupported_media_type` for a body that is not JSON and was not parsed. Throws a `TypeError` for a
 * JSON body that no parser has read: otherwise all such bodies would be equal to an empty one.
 */
export function parsedBytes(parsed: unknown, node: NodeRequest, parser: string): Verdict<Uint8Array> {
  if (isEmpty(parsed) && hasBody(node)) {
    if (!isJson(node.headers['content-type'])) return notJson
    // An older parser sets {} for a body that it does not read. The shortest object is sent in two bytes.
    const mayBeRead = node.readableEnded || node.headers['content-length'] === '2'
    if (parsed === undefined || (!mayBeRead && parsed !== null)) {
      throw new TypeError(`body 'parsed': no parser has read this request: mount ${parser} before the gate`)
    }
  }
  // `JSON.stringify` recurses and would throw a RangeError for a deeply nested body.
  const problem = validateJson(parsed)
  if (problem) return deny('invalid_request', problem.message, { field: problem.field })
  const isMissing = parsed === undefined || (parsed === null && !hasBody(node))
  return allow(isMissing ? new Uint8Array() : Buffer.from(JSON.stringify(parsed)))
}

/** Whether a parser may have read nothing: the result is undefined, null or, with some parsers, an empty object. */
function isEmpty(parsed: unknown): boolean {
  if (parsed === undefined || parsed === null) return true
  return typeof parsed === 'object' && !Array.isArray(parsed) && Object.keys(parsed).length === 0
}

/** Whether a request has a body. In HTTP/2 it need not have a length: then it has a body unless its headers end the stream. */
export function hasBody(request: NodeRequest): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  if (encoding !== undefined) return true
  // Adapters of serverless platforms may set a number.
  if (length !== undefined) return Number(length) !== 0
  const { stream } = request as { stream?: { readonly endAfterHeaders?: boolean } }
  return stream?.endAfterHeaders === false
}

function keptBytes<R>(request: R, access: BodyAccess<R>): Verdict<Uint8Array> {
  const bytes = access.kept(request)
  if (bytes) return allow(bytes)
  const node = access.node(request)
  if (!hasBody(node)) return allow(new Uint8Array())
  if (node.readableEnded)
    throw new TypeError(`body 'kept': a parser has read this request and kept no bytes: ${access.keeping}`)
  if (!isJson(node.headers['content-type'])) return notJson
  throw new TypeError(
    `body 'kept': no parser has read this request: mount one that keeps the bytes before the gate: ${access.keeping}`,
  )
}
