import { allow, type Verdict } from '@gatewright/kernel'
import { deny } from '../codes.ts'

/** Reads the bytes of a request body. Denials: `payload_too_large`, `invalid_request`. */
export async function readRequest(open: () => Request, limitBytes: number): Promise<Verdict<Uint8Array>> {
  const request = open()
  if (request.bodyUsed)
    throw new TypeError('another reader has already read this request: mount the gate before it')
  const tooLarge = deny('payload_too_large', `the body must be at most ${limitBytes} bytes`)
  if (Number(request.headers.get('content-length') ?? 0) > limitBytes) return tooLarge
  try {
    const { bytes, rest } = await readUpTo(request.body, limitBytes)
    void rest?.cancel().catch(() => {})
    if (rest) return tooLarge
    return isWhole(request, bytes.length) ? allow(bytes) : incomplete
  } catch {
    return incomplete
  }
}

const incomplete = deny(
  'invalid_request',
  'the body ended early, or its length differs from Content-Length',
  {
    field: 'body',
  },
)

/** Whether the whole body was read. Some servers end the stream normally when the connection is cut, so its length is compared. */
function isWhole({ headers }: Request, length: number): boolean {
  const expected = headers.get('content-length')
  return expected === null || Number(expected) === length
}

/** Reads a stream to its end, or until it exceeds the limit: then `rest` reads what is left. */
export async function readUpTo(
  stream: ReadableStream<Uint8Array> | null,
  limitBytes: number,
): Promise<{ bytes: Uint8Array; rest?: ReadableStreamDefaultReader<Uint8Array> }> {
  if (!stream) return { bytes: new Uint8Array() }
  const chunks: Uint8Array[] = []
  let length = 0
  const rest = stream.getReader()
  while (length <= limitBytes) {
    const { done, value } = await rest.read()
    if (done) return { bytes: joined(chunks, length) }
    const chunk = bytesOf(value)
    length += chunk.length
    chunks.push(chunk)
  }
  return { bytes: joined(chunks, length), rest }
}

/** A stream of a handler may give texts, which some servers send as they are. Throws a `TypeError` for anything else than bytes and texts. */
function bytesOf(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk
  if (typeof chunk === 'string') return new TextEncoder().encode(chunk)
  throw new TypeError('the stream of a body must contain Uint8Array or string chunks')
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  if (chunks.length === 1) return chunks[0] as Uint8Array
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

/** Makes a stream of bytes that have been read and the rest of their stream. */
export function resumeStream(
  first: Uint8Array,
  rest: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: controller => controller.enqueue(first),
    async pull(controller) {
      const { done, value } = await rest.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: reason => rest.cancel(reason),
  })
}

/** Copies a request with another JSON body, whose length the platform computes. */
export function withJson(request: Request, fields: Record<string, unknown>): Request {
  const { method } = request
  const headers = new Headers(request.headers)
  headers.delete('content-length')
  return new Request(request, { method, headers, body: JSON.stringify(fields) })
}
