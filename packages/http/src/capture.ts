import { capturedAnswer, fieldPairs, streamRefusal } from './captured.ts'
import { sendWire, type NodeResponse } from './node-response.ts'
import type { WireAnswer } from './parts.ts'
import type { Admitted } from './stages.ts'

type Callback = () => void
type ChunkArguments = [chunk?: unknown, encoding?: unknown, callback?: unknown]

/**
 * Holds back what an existing handler writes to a Node response (`res.json`, `res.send`, `res.end`) until its run is
 * ended, then sends it. A stream that is piped in is refused by name: 500, and the run's outcome is unknown. If the
 * handler never answers, the run's lease decides, whether or not the client is still there.
 */
export function captureNode(
  response: NodeResponse,
  operation: string,
  { settle, fail }: Pick<Admitted<never>, 'settle' | 'fail'>,
  limitBytes: number,
): void {
  const original = {
    write: response.write,
    end: response.end,
    writeHead: response.writeHead,
    flushHeaders: response.flushHeaders,
  }
  const chunks: Uint8Array[] = []
  let ended = false

  const restore = (): void => {
    Object.assign(response, original)
  }
  const refuse = async (error: unknown): Promise<void> => {
    ended = true
    const answer = await fail(error)
    restore()
    sendWire(response, answer)
  }
  const conclude = async (callback: Callback | undefined): Promise<void> => {
    const body = Buffer.concat(chunks)
    const { statusCode } = response
    const given = capturedAnswer(statusCode, fieldPairs(response.getHeaders()), body, limitBytes)
    const answer: WireAnswer = await settle(given)
    restore()
    // A late run's own answer is not the recorded one.
    if (answer.status !== statusCode) return sendWire(response, answer)
    const end = response.end.bind(response) as (bytes: Uint8Array, callback?: Callback) => unknown
    end(body, callback)
  }
  const keep = (args: ChunkArguments): Callback | undefined => {
    const [chunk, encoding] = args
    if (typeof chunk === 'string') {
      chunks.push(Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8'))
    } else if (chunk instanceof Uint8Array) chunks.push(chunk)
    return args.find(each => typeof each === 'function') as Callback | undefined
  }

  response.on('pipe', ((source: { unpipe(target: unknown): void }) => {
    if (ended) return
    source.unpipe(response)
    void refuse(streamRefusal(operation, source))
  }) as (...args: never[]) => void)
  Object.assign(response, {
    write(...args: ChunkArguments) {
      if (!ended) keep(args)?.()
      return true
    },
    end(...args: ChunkArguments) {
      if (ended) return response
      ended = true
      void conclude(keep(args))
      return response
    },
    writeHead(status: number, ...rest: unknown[]) {
      response.statusCode = status
      const headers = rest.find(each => typeof each === 'object' && each !== null)
      for (const [name, value] of fieldPairs((headers ?? {}) as Record<string, unknown>)) {
        response.setHeader(name, value)
      }
      return response
    },
    flushHeaders() {},
  })
}
