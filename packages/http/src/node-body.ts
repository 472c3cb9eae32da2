import { allow, type Verdict } from '@gatewright/kernel'
import { isJson, parseJsonObject, readRawBody } from './body.ts'
import { deny } from './codes.ts'
import type { NodeRequest } from './facts.ts'
import { jsonFault } from './json-fault.ts'

/**
 * Where a request's bytes come from; there is no default.
 * `stream`: the gate reads them itself, so it is mounted before any parser; the handler's `body` is then the parsed object.
 * `kept`: a parser has run before and kept them, see the binding.
 * `parsed`: the fall-back. `JSON.stringify` of the parsed body stands for them: two spellings of one value are one payload.
 */
export type BodyChoice = 'stream' | 'kept' | 'parsed'

/** How a framework's request is looked at. */
export interface BodyAccess<R> {
  node(request: R): NodeRequest
  /** The bytes that a parser kept. */
  kept(request: R): Uint8Array | undefined
  /** How to keep them, for the error of a mistake. */
  readonly hint: string
  /** The usual parser, for the error of a mistake. */
  readonly parser: string
  parsed(request: R): unknown
  assign(request: R, value: unknown): void
}

/** Reads bodies by one choice. */
export interface BodyReader<R> {
  /** The bytes. Denials: `payload_too_large`, `invalid_request`, `unsupported_media_type`. */
  bytes(request: R): Promise<Verdict<Uint8Array>>
  /** The bytes for an existing handler, which also gets the parsed object where no parser runs before it. */
  forHandler(request: R): Promise<Verdict<Uint8Array>>
}

/** Checks the choice once. Throws a `TypeError` for a missing one: a silent re-serialisation is other bytes. */
export function checkedBody<B extends string>(body: B, choices: readonly B[]): B {
  if (choices.includes(body)) return body
  const names = choices.map(choice => `'${choice}'`).join(' or ')
  throw new TypeError(`body must be ${names}, not ${JSON.stringify(body)}: there is no default`)
}

/** Makes the reader of a choice. */
export function bodyReader<R>(body: BodyChoice, limitBytes: number, access: BodyAccess<R>): BodyReader<R> {
  checkedBody(body, ['stream', 'kept', 'parsed'])
  const bytes = async (request: R): Promise<Verdict<Uint8Array>> => {
    const node = access.node(request)
    if (body === 'kept') return keptBytes(request, access)
    if (body === 'parsed') return parsedBytes(access.parsed(request), node, access.parser)
    if (!node.readableEnded) return readRawBody(node, limitBytes)
    throw new TypeError("body 'stream': another parser has read this request; mount the gate before it")
  }
  return {
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

/**
 * The stated fall-back: what the parsed body is written as. No body is no bytes. Denials: `invalid_request`, as
 * `parseJsonObject`, and `unsupported_media_type` for a body that is not JSON and of which nothing was parsed. Throws a `TypeError` for JSON that
 * no parser has read: all such bodies would count as one, an empty one.
 */
export function parsedBytes(parsed: unknown, node: NodeRequest, parser: string): Verdict<Uint8Array> {
  if (isNothing(parsed) && hasBody(node)) {
    if (!isJson(node.headers['content-type'])) return notJson
    if (parsed === undefined) {
      throw new TypeError(`body 'parsed': no parser has read this request: mount ${parser} before the gate`)
    }
  }
  // `JSON.stringify` recurses: a body nested deep enough would end it with a RangeError.
  const fault = jsonFault(parsed)
  if (fault) return deny('invalid_request', fault.message, { field: fault.field })
  return allow(
    parsed === undefined || parsed === null ? new Uint8Array() : Buffer.from(JSON.stringify(parsed)),
  )
}

/** What parsers leave where they read nothing: undefined, and some of them an empty object, as also for uploads of files only. */
function isNothing(parsed: unknown): boolean {
  if (parsed === undefined) return true
  return (
    typeof parsed === 'object' &&
    parsed !== null &&
    !Array.isArray(parsed) &&
    Object.keys(parsed).length === 0
  )
}

/** For a body that nobody has read. */
export const notJson: Verdict<never> = deny(
  'unsupported_media_type',
  'send the body as Content-Type: application/json in UTF-8',
)

/** Whether a request has a body. One of HTTP/2 need not announce it: there its headers end the stream or do not. */
export function hasBody(request: NodeRequest): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  if (encoding !== undefined) return true
  if (length !== undefined) return length !== '0'
  const { stream } = request as { stream?: { readonly endAfterHeaders?: boolean } }
  return stream?.endAfterHeaders === false
}

function keptBytes<R>(request: R, access: BodyAccess<R>): Verdict<Uint8Array> {
  const bytes = access.kept(request)
  if (bytes) return allow(bytes)
  const node = access.node(request)
  if (!hasBody(node)) return allow(new Uint8Array())
  if (node.readableEnded) throw new TypeError(`body 'kept': ${access.hint}`)
  return notJson
}
