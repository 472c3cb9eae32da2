import { addedFields, capturedAnswer, fieldPairs, longAnswer, streamRefusal } from './captured.ts'
import type { Author } from './express-errors.ts'
import { sendInstead, setFields, type NodeResponse } from './node-response.ts'
import type { WireAnswer } from './parts.ts'
import type { Admitted } from './stages.ts'

type Callback = () => void
type ChunkArguments = [chunk?: unknown, encoding?: unknown, callback?: unknown]

/**
 * Holds back what an existing handler writes to a Node response (`res.json`, `res.send`, `res.end`) until its run is
 * ended, then sends it. What an error handler wrote in its place, as `author` tells, leaves the outcome unknown. A stream
 * that is piped in is refused by name: 500, and the run's outcome is unknown. If the handler never answers, the run's lease
 * decides, whether or not the client is still there. The result ends the run of a handler that failed at once.
 */
export function captureNode(
  response: NodeResponse,
  operation: string,
  { settle, fail, lose }: Pick<Admitted<never>, 'settle' | 'fail' | 'lose'>,
  limitBytes: number,
  author: () => Author,
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
  const refuse = async (error: unknown): Promise<void> => {
    if (ended) return
    ended = true
    const answer = await fail(error)
    restore()
    sendInstead(response, answer)
  }
  const conclude = async (callback: Callback | undefined): Promise<void> => {
    const body = Buffer.concat(chunks)
    const { statusCode } = response
    const given = capturedAnswer(statusCode, fieldPairs(response.getHeaders()), body, limitBytes)
    const by = author()
    const lost = by === 'error handler' || (by === 'unsure' && statusCode >= 400)
    const answer: WireAnswer = lost ? await lose(statusCode).then(() => given) : await settle(given)
    restore()
    // A late run's own answer is not the recorded one.
    if (answer.status !== statusCode) return sendInstead(response, answer)
    setFields(response, addedFields(given, answer))
    const end = response.end.bind(response) as (bytes: Uint8Array, callback?: Callback) => unknown
    end(body, callback)
  }
  // The last resort, so that no error of sending ends the process.
  const abandon = (): void => {
    restore()
    if (!response.headersSent) response.statusCode = 500
    response.end()
  }
  const keep = (args: ChunkArguments): Callback | undefined => {
    const bytes = bytesOf(args)
    length += bytes.length
    chunks.push(bytes)
    return args.find(each => typeof each === 'function') as Callback | undefined
  }

  response.on('pipe', (source: { unpipe(target: unknown): void }) => {
    source.unpipe(response)
    refuse(streamRefusal(operation, source)).catch(abandon)
  })
  Object.assign(response, {
    write(...args: ChunkArguments) {
      if (ended) return true
      keep(args)?.()
      if (length > limitBytes) refuse(longAnswer(operation, limitBytes)).catch(abandon)
      return true
    },
    end(...args: ChunkArguments) {
      if (ended) return response
      ended = true
      conclude(keep(args)).catch(abandon)
      return response
    },
    writeHead(status: number, ...rest: unknown[]) {
      response.statusCode = status
      for (const [name, value] of givenFields(rest)) response.setHeader(name, value)
      return response
    },
    flushHeaders() {},
  })
  return refuse
}

function bytesOf([chunk, encoding]: ChunkArguments): Uint8Array {
  if (typeof chunk === 'string') {
    return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
  }
  return chunk instanceof Uint8Array ? chunk : new Uint8Array()
}

/** The header fields of a `writeHead` call: an object, or a flat list of names and values. */
function givenFields(rest: readonly unknown[]): [name: string, value: string][] {
  const given = rest.find(each => typeof each === 'object' && each !== null) ?? {}
  if (!Array.isArray(given)) return Object.entries(given as Record<string, string>)
  const list = given as string[]
  return list.flatMap((name, index) => (index % 2 === 0 ? [[name, list[index + 1] ?? '']] : []))
}
