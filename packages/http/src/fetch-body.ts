import { allow, type Verdict } from '@gatewright/kernel'
import { deny } from './codes.ts'

/** Reads a request's bytes. Denials: `payload_too_large`, `invalid_request`. */
export async function readRequest(open: () => Request, limitBytes: number): Promise<Verdict<Uint8Array>> {
  const request = open()
  if (request.bodyUsed) throw new TypeError('another reader has read this request; mount the gate before it')
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

const incomplete = deny('invalid_request', 'the body ended early or its length is not the announced one', {
  field: 'body',
})

/** Some servers end the stream of a cut connection as if all had come: then only the announced length tells. */
function isWhole({ headers }: Request, length: number): boolean {
  const announced = headers.get('content-length')
  return announced === null || Number(announced) === length
}

/** Reads a stream to its end, or until it is over the limit: then `rest` is the reader of what is left. */
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
    if (done) return { bytes: Buffer.concat(chunks) }
    length += value.length
    chunks.push(value)
  }
  return { bytes: Buffer.concat(chunks), rest }
}

/** A stream of which the first bytes have been read already. */
export function resumed(
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
