import { addedFields, capturedResponse, fieldPairs, sizeError, streamError } from './captured-response.ts'
import type { ResponseAuthor } from './express-errors.ts'
import { sendInstead, setFields, writeHeadFields, type NodeResponse } from './node-response.ts'
import type { WireResponse } from '../ports.ts'
import type { StartedCall } from '../route/steps.ts'

type Callback = () => void
type ChunkArguments = [chunk?: unknown, encoding?: unknown, callback?: unknown]

/**
 * Buffers what an existing handler writes to a Node response (`res.json`, `res.send`, `res.end`) until its run has ended, then
 * sends it. If an error handler wrote the response, as `author` says, the run has failed. A piped stream gets a 500 whose
 * reported error names the operation and the kind of stream, and the outcome is unknown. If the handler never responds, the run
 * ends with its lease, whether or not the client is still connected. Returns the function that ends the run of a handler that
 * threw synchronously.
 */
export function captureNode(
  response: NodeResponse,
  operation: string,
  { finishCaptured, fail, failed }: Pick<StartedCall<never>, 'finishCaptured' | 'fail' | 'failed'>,
  limitBytes: number,
  author: () => ResponseAuthor,
): (error: unknown) => Promise<void> {
  const original = {
    write: response.write,
    end: response.end,
    writeHead: response.writeHead,
    flushHeaders: response.flushHeaders,
  }
  const chunks: Uint8Array[] = []
  let length = 0
  let ended = false

  const restore = (): void => {
    Object.assign(response, original)
  }
  const failRun = async (error: unknown): Promise<void> => {
    if (ended) return
    ended = true
    const output = await fail(error)
    restore()
    sendInstead(response, output)
  }
  const finish = async (callback: Callback | undefined): Promise<void> => {
    const body = Buffer.concat(chunks)
    const { statusCode } = response
    const captured = capturedResponse(statusCode, fieldPairs(response.getHeaders()), body, limitBytes)
    const writer = author()
    const hasFailed = writer.by === 'error handler' || (writer.by === 'unknown' && statusCode >= 400)
    const output: WireResponse = hasFailed
      ? await failed({ status: statusCode, ...('error' in writer ? { error: writer.error } : {}) }).then(
          () => captured,
        )
      : await finishCaptured(captured)
    restore()
    // Another run has completed meanwhile: the captured response is not the recorded one.
    if (output.status !== statusCode) return sendInstead(response, output)
    setFields(response, addedFields(captured, output))
    const end = response.end.bind(response) as (bytes: Uint8Array, callback?: Callback) => unknown
    end(body, callback)
  }
  // An error of sending must not end the process.
  const abandon = (): void => {
    restore()
    if (!response.headersSent) response.statusCode = 500
    response.end()
  }
  const buffer = (args: ChunkArguments): Callback | undefined => {
    const bytes = bytesOf(args)
    length += bytes.length
    chunks.push(bytes)
    return args.find(each => typeof each === 'function') as Callback | undefined
  }

  response.on('pipe', given => {
    const source = given as { unpipe(target: unknown): void }
    source.unpipe(response)
    failRun(streamError(operation, source)).catch(abandon)
  })
  Object.assign(response, {
    write(...args: ChunkArguments) {
      if (ended) return true
      buffer(args)?.()
      if (length > limitBytes) failRun(sizeError(operation, limitBytes)).catch(abandon)
      return true
    },
    end(...args: ChunkArguments) {
      if (ended) return response
      ended = true
      finish(buffer(args)).catch(abandon)
      return response
    },
    writeHead(status: number, ...rest: unknown[]) {
      response.statusCode = status
      setFields(response, writeHeadFields(rest))
      return response
    },
    flushHeaders() {},
  })
  return failRun
}

function bytesOf([chunk, encoding]: ChunkArguments): Uint8Array {
  if (typeof chunk === 'string') {
    return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
  }
  return chunk instanceof Uint8Array ? chunk : new Uint8Array()
}
