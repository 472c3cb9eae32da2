import { addedFields, capturedResponse, fieldPairs, sizeError, streamError } from './captured-response.ts'
import type { ExpressWatch } from './express-errors.ts'
import { hadNoEffect, type HandlerFailure } from '../response/no-effect.ts'
import { outside, stopFollowing } from './handler-scope.ts'
import type { ResponseAuthor } from './handler-watch.ts'
import { keepLate, type LateResponse } from './late-response.ts'
import { sendInstead, setFields, writeHeadFields, type NodeResponse } from './node-response.ts'
import type { Settings } from '../options.ts'
import type { WireResponse } from '../ports.ts'
import type { Run } from '../route/run.ts'
import type { Route } from '../route/steps.ts'

type Callback = () => void
type ChunkArguments = [chunk?: unknown, encoding?: unknown, callback?: unknown]

/** What capturing the response of an existing handler needs. */
interface Capture {
  readonly response: NodeResponse
  readonly route: Pick<Route<never>, 'operation' | 'noEffectStatuses'>
  readonly run: Run<unknown>
  readonly settings: Pick<Settings, 'responseLimitBytes' | 'hints'>
  /** What is known about the handlers of the request. */
  readonly watched: Omit<ExpressWatch, 'start'>
}

/**
 * Buffers what an existing handler writes to a Node response (`res.json`, `res.send`, `res.end`) until its run has ended, then
 * sends it. A response of 400 or more ends the run only if the handler, or an error handler after it, is known to have written it as the last
 * thing. Otherwise the outcome is unknown, the response is sent, and what the handler writes later is recorded in place of it. A piped stream
 * gets a 500 whose reported error names the operation and the kind of stream, and the outcome is unknown. If the handler never responds, the
 * run ends with its lease, whether or not the client is still connected. Returns the function that ends the run of a handler that threw.
 */
export function captureNode(given: Capture): (error: unknown) => Promise<void> {
  const { response, settings } = given
  const { responseLimitBytes: limitBytes } = settings
  const { operation } = given.route
  const capture = new NodeCapture(given)
  // An error of sending must not end the process.
  const orAbandon = (work: Promise<void>): void => void work.catch(() => capture.abandon())
  let chunks: Uint8Array[] = []
  let length = 0
  let hasResponded = false
  const buffer = (args: ChunkArguments): Callback | undefined => {
    const bytes = bytesOf(args)
    length += bytes.length
    chunks.push(bytes)
    return args.find(each => typeof each === 'function') as Callback | undefined
  }
  response.on('pipe', piped => {
    const source = piped as { unpipe(target: unknown): void }
    source.unpipe(response)
    orAbandon(capture.fail(streamError(operation, source)))
  })
  const { setTimeout } = response
  capture.install({
    write(...args: ChunkArguments) {
      if (capture.ignoresWrites()) return true
      buffer(args)?.()
      if (length > limitBytes) orAbandon(capture.fail(sizeError(operation, limitBytes)))
      return true
    },
    end(...args: ChunkArguments) {
      if (capture.ignoresWrites()) {
        if (hasResponded)
          settings.hints.mistake(
            `second response of ${operation}`,
            `${operation}: a response was written after the response, and is not sent or stored: write return before the first`,
          )
        return response
      }
      hasResponded = true
      const callback = buffer(args)
      const body = Buffer.concat(chunks)
      chunks = []
      length = 0
      const { status, fields } = capture.head()
      orAbandon(
        capture.respond({ captured: capturedResponse(status, fields, body, limitBytes), body, callback }),
      )
      return response
    },
    writeHead(status: number, ...rest: unknown[]) {
      response.statusCode = status
      setFields(response, writeHeadFields(rest))
      return response
    },
    flushHeaders() {},
    // The time limit of a response is no part of its handler, even if the handler sets it.
    setTimeout: (...args: unknown[]) => outside(() => setTimeout?.apply(response, args as never[])),
  })
  return error => capture.fail(error)
}

/** A response that was written, and the function to call when it is sent. */
interface Written {
  readonly captured: WireResponse
  readonly body: Uint8Array
  readonly callback: Callback | undefined
}

type WriteFunctions = Pick<NodeResponse, 'write' | 'end' | 'writeHead' | 'flushHeaders' | 'setTimeout'>

/** What has been written to one response, and how it ends the run. */
class NodeCapture {
  readonly #response: NodeResponse
  readonly #noEffectStatuses: ReadonlySet<number>
  readonly #run: Run<unknown>
  readonly #watched: Omit<ExpressWatch, 'start'>
  readonly #original: WriteFunctions
  #capturing: object = {}
  #ended = false
  /** What the handler does after a response that is not known to be its last. */
  #late: LateResponse | undefined
  /** Settles when it is decided what that response was, and it is sent. */
  #decided: Promise<void> = Promise.resolve()

  constructor({ response, route, run, watched }: Capture) {
    const { write, end, writeHead, flushHeaders, setTimeout } = response
    this.#original = { write, end, writeHead, flushHeaders, setTimeout } as WriteFunctions
    this.#response = response
    this.#noEffectStatuses = route.noEffectStatuses
    this.#run = run
    this.#watched = watched
  }

  install(capturing: object): void {
    this.#capturing = capturing
    Object.assign(this.#response, capturing)
  }

  #restore(): void {
    Object.assign(this.#response, this.#original)
  }

  #isInside = (): boolean => this.#watched.watch.isInside()

  /** Whether the run has ended, or other code than the handler writes after a response. */
  ignoresWrites(): boolean {
    return this.#ended || (this.#late !== undefined && !this.#isInside())
  }

  /** Returns the status and the header fields that are set now. */
  head(): { readonly status: number; readonly fields: WireResponse['headers'] } {
    const { status, fields } = this.#late ?? {}
    return {
      status: status ?? this.#response.statusCode,
      fields: fieldPairs(fields?.() ?? this.#response.getHeaders()),
    }
  }

  #send({ body, callback }: Written): void {
    const response = this.#response
    const end = response.end.bind(response) as (bytes: Uint8Array, callback?: Callback) => unknown
    end(body, callback)
  }

  #endRun(status: number): void {
    this.#ended = true
    this.#watched.end(status >= 400)
    stopFollowing(this.#watched.watch)
  }

  async fail(error: unknown): Promise<void> {
    if (this.#ended) return
    this.#endRun(500)
    await this.#decided
    const output = await this.#run.finish({ kind: 'failure', error })
    if (this.#late) return
    this.#restore()
    sendInstead(this.#response, output)
  }

  /** Ends the run with a response of the handler. Only the first response to a request is sent. */
  async #finish(written: Written): Promise<void> {
    const { captured, callback } = written
    const output = await this.#run.finishCaptured(captured)
    if (this.#late) return callback?.()
    this.#restore()
    // Another run has completed meanwhile: the captured response is not the recorded one.
    if (output.status !== captured.status) return sendInstead(this.#response, output)
    setFields(this.#response, addedFields(captured, output))
    this.#send(written)
  }

  /** Ends the run of a handler that failed with this response. */
  async #finishFailed(written: Written, failure: HandlerFailure): Promise<void> {
    this.#endRun(failure.status)
    await this.#decided
    await this.#run.fail(failure)
    if (this.#late) return written.callback?.()
    this.#restore()
    this.#send(written)
  }

  /** Decides about the first response of 400 or more. If it is not known to be the last of the handler, sends it and goes on capturing. */
  async #decide(written: Written, writer: ResponseAuthor): Promise<void> {
    const { status } = written.captured
    if (writer.by === 'handler' && (await writer.ends()) && !this.#ended) {
      this.#late?.close()
      this.#late = undefined
      this.#endRun(status)
      return this.#finish(written)
    }
    await this.#run.leaveUnknown(status)
    this.#late?.suspended(() => {
      this.#restore()
      this.#send(written)
      Object.assign(this.#response, this.#capturing)
    })
  }

  async respond(written: Written): Promise<void> {
    const writer = this.#watched.author()
    const { status } = written.captured
    if (writer.by === 'error handler') return this.#finishFailed(written, { status, error: writer.error })
    if (writer.by === 'unknown' && status >= 400 && hadNoEffect(this.#noEffectStatuses, { status }))
      return this.#finishFailed(written, { status })
    if (status < 400) this.#endRun(status)
    else if (!this.#late) {
      this.#late = keepLate(this.#response, this.#isInside)
      this.#decided = this.#decide(written, writer)
      return this.#decided
    }
    await this.#decided
    if (status >= 400) {
      if (this.#ended || writer.by !== 'handler' || !(await writer.ends())) return
      this.#endRun(status)
    }
    await this.#finish(written)
  }

  /** Ends a response whose run could not be ended. */
  abandon(): void {
    this.#late?.close()
    this.#restore()
    if (!this.#response.headersSent) this.#response.statusCode = 500
    this.#response.end()
  }
}

function bytesOf([chunk, encoding]: ChunkArguments): Uint8Array {
  if (typeof chunk === 'string') {
    return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
  }
  return chunk instanceof Uint8Array ? chunk : new Uint8Array()
}
