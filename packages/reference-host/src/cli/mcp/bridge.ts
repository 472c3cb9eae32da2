import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { readText, withDeadline } from '@gatewright/kernel/internal'
import { CommandError } from '@gatewright/host/internal/commands'
import { errorLine, failureOf, HostFailure, NoAnswer, noAnswerOf, unknownOutcome } from './host-failure.ts'
import { eventDataOf, linesOf, type Line } from './lines.ts'
import {
  headersOf,
  isObject,
  isRequest,
  oneLine,
  parseMessage,
  type Message,
  type MessageId,
  type RequestMessage,
} from './message.ts'
import type { HostSession, Sessions } from './sessions.ts'

/** What a bridge works with. */
export interface BridgeOptions {
  readonly sessions: Sessions
  /** Writes a line to the client. A rejection ends the bridge. */
  readonly write: (line: string) => Promise<void>
  /** Tells the person something, beside the messages. */
  readonly report: (text: string) => void
  /** Says how the person gives the key some scopes, beside those that it has. */
  readonly grant: (scopes: readonly string[], session: HostSession) => string
}

/** The longest message in either direction, in bytes. */
const MAX_BYTES = 10_000_000
/** How long a request may take with its repeats, in ms. */
const REQUEST_MS = 600_000
/** How long a request without an answer is repeated, in ms, and the first pause, which doubles. */
const REPEAT_MS = 20_000
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 3000
/** How long requests may still take when the client has closed its end, in ms. */
const DRAIN_MS = 5000

/** Stays open as long as its client wants, and is not repeated: the client asks again. */
const LISTEN = 'subscriptions/listen'
/** Requests that change nothing, so that one without an answer may be sent again. */
const READS: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'server/discover',
  'completion/complete',
  'tools/list',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/read',
  'resources/templates/list',
])

/**
 * Passes JSON-RPC messages on, one for each line of `input`, to `POST /mcp` of a host, and what the host answers back. Resolves when `input`
 * has ended, and its requests too. Rejects if `write` does.
 *
 * What the client sends decides what a call means: a message gets no idempotency key here. A message without an answer is sent again with
 * another JSON-RPC id, as the protocol says, and unchanged otherwise, if its tool says that a repeat has no further effect.
 */
export async function runBridge(input: Readable, options: BridgeOptions): Promise<void> {
  const bridge = new Bridge(options, error => input.destroy(error))
  try {
    for await (const line of linesOf(input, MAX_BYTES)) bridge.receive(line)
    await bridge.end()
  } finally {
    bridge.abort()
  }
}

class Bridge {
  readonly #options: BridgeOptions
  readonly #fail: (error: Error) => void
  /** How each request that is under way is ended, by its id. */
  readonly #underWay = new Map<MessageId, { readonly ending: AbortController; readonly method: string }>()
  readonly #work = new Set<Promise<void>>()
  /** The tools whose call may be repeated, as the host has listed them. */
  readonly #repeatable = new Set<unknown>()
  /** The version that `initialize` agreed on. */
  #version: string | undefined
  #problem: string | undefined

  constructor(options: BridgeOptions, fail: (error: Error) => void) {
    this.#options = options
    this.#fail = fail
  }

  /** Starts to handle a line of the client. */
  receive(line: Line): void {
    if ('problem' in line) return this.#start(this.#write(invalidLine(line.problem)))
    const { text } = line
    if (text.trim() === '') return
    const message = parseMessage(text)
    if (!message) return this.#start(this.#write(invalidLine('not one JSON-RPC message')))
    if (message.method === 'notifications/cancelled') return this.#cancel(message)
    this.#start(isRequest(message) ? this.#request(message, text) : this.#notify(message, text))
  }

  /** Waits for the requests that are under way. */
  async end(): Promise<void> {
    for (const { ending, method } of this.#underWay.values()) if (method === LISTEN) ending.abort()
    const timer = setTimeout(() => this.abort(), DRAIN_MS)
    await Promise.all(this.#work)
    clearTimeout(timer)
  }

  /** Ends the requests that are under way. What the host has begun for them it completes. */
  abort(): void {
    for (const { ending } of this.#underWay.values()) ending.abort()
  }

  #start(work: Promise<void>): void {
    this.#work.add(work)
    void work.finally(() => this.#work.delete(work))
  }

  /** A host without sessions of the protocol knows no request of another connection: closing that connection is what cancels it. */
  #cancel({ params }: Message): void {
    this.#underWay.get(params?.['requestId'] as MessageId)?.ending.abort()
  }

  /** Sends a notification, or the response to a request of the host. */
  async #notify(message: Message, text: string): Promise<void> {
    try {
      const { response } = await withDeadline({ ms: REQUEST_MS }, signal => this.#send(message, text, signal))
      await response.body?.cancel()
      if (!response.ok)
        this.#options.report(`The host answers ${response.status} to ${message.method ?? 'a response'}`)
    } catch (error) {
      this.#options.report(`${message.method ?? 'A response'} was not sent: ${(error as Error).message}`)
    }
  }

  async #request(request: RequestMessage, text: string): Promise<void> {
    const { id, method } = request
    const ending = new AbortController()
    this.#underWay.set(id, { ending, method })
    const deadline = { signal: ending.signal, ...(method === LISTEN ? {} : { ms: REQUEST_MS }) }
    const line = await withDeadline(deadline, signal => this.#answer(request, text, signal)).catch(
      (error: unknown) => {
        if (ending.signal.aborted) return undefined
        if (error instanceof DOMException && error.name === 'TimeoutError') {
          const late = new NoAnswer(`The host has not answered for ${REQUEST_MS / 60_000} minutes`, {
            wasSent: true,
          })
          return errorLine(id, unknownOutcome(request, late, { mayRepeat: this.#mayRepeat(request) }))
        }
        if (!(error instanceof HostFailure || error instanceof CommandError))
          this.#options.report((error as Error).stack ?? String(error))
        return errorLine(id, error)
      },
    )
    if (this.#underWay.get(id)?.ending === ending) this.#underWay.delete(id)
    if (line !== undefined && !ending.signal.aborted) await this.#write(line)
  }

  /** Returns the line that answers a request. Repeats it while there is no answer and a repeat can do no harm. */
  async #answer(request: RequestMessage, text: string, signal: AbortSignal): Promise<string> {
    const startedAt = performance.now()
    let wasSent = false
    let message = text
    let wireId = request.id
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        const sent = await this.#send(request, message, signal)
        const line = await this.#read(request, wireId, sent, signal)
        if (this.#problem !== undefined) this.#options.report(`${sent.session.host} answers again.`)
        this.#problem = undefined
        return line
      } catch (error) {
        if (signal.aborted || error instanceof HostFailure) throw error
        const failed = failedSend(error)
        wasSent ||= failed.wasSent
        const isLate = performance.now() - startedAt + pauseMs > REPEAT_MS
        const mayRepeat = this.#mayRepeat(request)
        if (isLate || (failed.wasSent && !mayRepeat))
          throw unknownOutcome(request, new NoAnswer(failed.message, { wasSent }), { mayRepeat })
        if (this.#problem !== failed.message) this.#options.report(`${failed.message}. Trying again.`)
        this.#problem = failed.message
      }
      await sleep(pauseMs, undefined, { signal })
      wireId = randomUUID()
      message = JSON.stringify({ ...request, id: wireId })
    }
  }

  #mayRepeat({ method, params }: RequestMessage): boolean {
    return method === 'tools/call' ? this.#repeatable.has(params?.['name']) : READS.has(method)
  }

  /** Sends a message with a session: with another one if the host does not take the first, because such a message had no effect. */
  async #send(message: Message, text: string, signal: AbortSignal): Promise<Sent> {
    const { sessions } = this.#options
    const post = async (): Promise<Sent> => {
      const session = await sessions.current()
      const response = await fetch(new URL('/mcp', session.host), {
        method: 'POST',
        headers: [
          ['content-type', 'application/json'],
          ['accept', 'application/json, text/event-stream'],
          ...Object.entries(session.headers),
          ...headersOf(message, this.#version),
        ],
        body: text,
        redirect: 'manual',
        signal,
      }).catch((error: unknown) => {
        throw noAnswerOf(session.host, error)
      })
      return { session, response }
    }
    const first = await post()
    if (first.response.status !== 401) return first
    await first.response.body?.cancel()
    sessions.forget(first.session)
    return post()
  }

  /** Reads the response to a request, and writes the notifications before it. Returns its line. */
  async #read(
    request: RequestMessage,
    wireId: MessageId,
    { session, response }: Sent,
    signal: AbortSignal,
  ): Promise<string> {
    const { host } = session
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    if (!isStream) {
      const text = await readText(response, MAX_BYTES).catch((error: unknown) => {
        throw noAnswerOf(host, error)
      })
      const message = parseMessage(text)
      const line = message && this.#answerLine(request, wireId, message, text)
      if (line !== undefined) return line
      const { status, headers } = response
      const { sessions, grant } = this.#options
      if (status === 403) sessions.forget(session)
      throw failureOf({ host, status, headers, body: jsonOf(text) }, scopes => grant(scopes, session))
    }
    for await (const data of eventsOf(host, response)) {
      const message = parseMessage(data)
      const line = message && this.#answerLine(request, wireId, message, data)
      if (line !== undefined) return line
      signal.throwIfAborted()
      if (message?.method !== undefined) await this.#write(oneLine(data))
    }
    throw new NoAnswer(`${host} ended the response before its result`, { wasSent: true })
  }

  /** The line of a message if it answers a request, with the id of the client. An error for a message that cannot be read has no id. */
  #answerLine(
    request: RequestMessage,
    wireId: MessageId,
    message: Message,
    text: string,
  ): string | undefined {
    const { id, method, result, error } = message
    const isOwn = id === wireId || (error !== undefined && (id === undefined || id === null))
    if (method !== undefined || !isOwn) return undefined
    this.#learn(request, result)
    return id === request.id ? oneLine(text) : JSON.stringify({ ...message, id: request.id })
  }

  /** Remembers what a result says about later messages. */
  #learn({ method }: RequestMessage, result: unknown): void {
    if (!isObject(result)) return
    const { protocolVersion, tools } = result
    if (method === 'initialize' && typeof protocolVersion === 'string') this.#version = protocolVersion
    if (method !== 'tools/list' || !Array.isArray(tools)) return
    for (const tool of tools) {
      const { name, annotations = {} } = isObject(tool) ? tool : {}
      const { readOnlyHint, idempotentHint } = annotations as Readonly<Record<string, unknown>>
      if (readOnlyHint === true || idempotentHint === true) this.#repeatable.add(name)
      else this.#repeatable.delete(name)
    }
  }

  /** Writes a line. If that fails, nothing else can be said to the client, and the bridge ends. */
  async #write(line: string): Promise<void> {
    try {
      await this.#options.write(line)
    } catch (error) {
      this.#fail(error as Error)
    }
  }
}

/** A message that got a response. */
interface Sent {
  readonly session: HostSession
  readonly response: Response
}

/** What a failure to send says about a message. Throws other errors, and those that a repeat does not change. */
function failedSend(error: unknown): NoAnswer {
  if (error instanceof CommandError && error.code === 'no_answer')
    return new NoAnswer(error.message, { wasSent: false })
  if (error instanceof NoAnswer) return error
  throw error
}

/** The data of the events of a response. An error in the stream is a `NoAnswer`. */
async function* eventsOf(host: string, { body }: Response): AsyncGenerator<string> {
  try {
    yield* eventDataOf((body ?? []) as AsyncIterable<Uint8Array>, MAX_BYTES)
  } catch (error) {
    throw noAnswerOf(host, error)
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The error of a line that is no message. Nobody knows the id of what it should have been. */
function invalidLine(problem: string): string {
  const message = `The line is ${problem}. Write one JSON-RPC message in each line.`
  return JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message } })
}
