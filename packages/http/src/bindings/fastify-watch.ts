import type { HeaderField } from '@gatewright/kernel'
import type { WireResponse } from '../ports.ts'
import { capturedResponse, fieldPairs, isStream } from './captured-response.ts'
import type { FastifyReply } from './fastify-types.ts'
import { outside, partOf, stopFollowing } from './handler-scope.ts'
import type { Run } from '../route/run.ts'
import { HandlerWatch, type HandlerPart, type ResponseAuthor } from './handler-watch.ts'

type ReplyFunction = (...args: unknown[]) => unknown

/** What a gate knows about the handler of one request, and the response that the handler makes after somebody else has responded. */
export class FastifyWatch {
  readonly #watch = new HandlerWatch()
  readonly #run: Run<unknown>
  readonly #limitBytes: number
  /** Whether the plugin has put a watched handler in place of the route's. */
  readonly #isWatched: boolean
  #hasEnded = false
  #left: Promise<void> | undefined
  /** Whether the handler has returned a value, which Fastify sends at once. */
  #hasReturned = false
  readonly #late: { status: number; fields: HeaderField[]; isSent: boolean } = {
    status: 200,
    fields: [],
    isSent: false,
  }

  constructor(run: Run<unknown>, reply: FastifyReply, options: { limitBytes: number; isWatched: boolean }) {
    this.#run = run
    this.#limitBytes = options.limitBytes
    this.#isWatched = options.isWatched
    const { raw } = reply
    raw.on('finish', () => {
      if (!this.#hasEnded) void this.leave(raw.statusCode)
    })
    // The time limit of a response is no part of its handler, even if the handler sets it.
    const { setTimeout } = raw
    raw.setTimeout = (...args: never[]) => outside(() => setTimeout?.apply(raw, args))
  }

  /** Says who writes a response of 400 or more, and what was thrown, if it is the response to an error. */
  author(failure: { readonly error: unknown } | undefined): ResponseAuthor {
    const { last } = this.#watch
    const part = partOf(this.#watch) as HandlerPart | undefined
    const isOwn = part !== undefined && part === last
    if (failure && (!last || last.hasFailed || isOwn)) return { by: 'error handler', error: failure.error }
    if (failure) return { by: 'other' }
    if (!this.#isWatched) return { by: 'unknown' }
    if (!last) return BEFORE_HANDLER
    return isOwn || this.#hasReturned ? this.#watch.handler(last) : { by: 'other' }
  }

  /** Says that the run ends with a response of this status. */
  end(status: number): void {
    this.#hasEnded = true
    this.#watch.isClosed = status >= 400
    stopFollowing(this.#watch)
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Records that the outcome is unknown, because a response is sent before the handler is known to have ended. */
  leave(status: number): Promise<void> {
    this.#left ??= this.#run.leaveUnknown(status)
    return this.#left
  }

  /** Calls the handler. Does not call it after a response that freed the key. */
  call(handler: () => unknown, reply: FastifyReply): unknown {
    this.#keepLate(reply)
    const result = this.#watch.call(part => {
      const own = reply as FastifyReply & { then?: ReplyFunction }
      const { then } = own
      // An async function that returns its reply has ended, although its promise waits for the response to be sent.
      // oxlint-disable-next-line unicorn/no-thenable -- a reply of Fastify is one already
      own.then = (...args) => {
        part.end(false)
        return then?.apply(own, args)
      }
      return handler()
    })
    if (typeof (result as { then?: unknown } | undefined)?.then !== 'function' || result === reply) {
      this.#hasReturned = result !== undefined && result !== reply
      return result
    }
    return (result as Promise<unknown>).then(value => {
      this.#hasReturned = true
      if (!this.#isLate(reply)) return value
      if (value !== undefined && value !== reply) this.#sendLate(reply, value)
      return undefined
    })
  }

  #isLate({ raw }: FastifyReply): boolean {
    return this.#left !== undefined || (raw.headersSent && !this.#hasEnded)
  }

  /** Keeps what the handler sends after somebody else has responded: Fastify would ignore it. */
  #keepLate(reply: FastifyReply): void {
    const target = reply as unknown as Record<string, ReplyFunction>
    const keep = (name: string, late: ReplyFunction): void => {
      const given = target[name]
      if (given)
        target[name] = (...args) => {
          if (!this.#isLate(reply) || partOf(this.#watch) === undefined) return given.apply(reply, args)
          late(...args)
          return reply
        }
    }
    const addFields = (fields: object): void => void this.#late.fields.push(...fieldPairs({ ...fields }))
    for (const name of ['code', 'status']) keep(name, status => void (this.#late.status = status as number))
    keep('header', (name, value) => addFields({ [name as string]: value }))
    keep('headers', fields => addFields(fields as object))
    keep('type', value => addFields({ 'content-type': value }))
    keep('send', payload => this.#sendLate(reply, payload))
  }

  #sendLate(reply: FastifyReply, payload: unknown): void {
    if (this.#late.isSent || this.#hasEnded) return
    this.#late.isSent = true
    void this.#endLate(reply, payload)
  }

  async #endLate(reply: FastifyReply, payload: unknown): Promise<void> {
    const { status, fields } = this.#late
    const { last } = this.#watch
    await this.leave(reply.raw.statusCode)
    const author = last && status >= 400 ? this.#watch.handler(last) : undefined
    if (payload instanceof Error || isStream(payload) || (author?.by === 'handler' && !(await author.ends())))
      return
    this.end(status)
    try {
      await this.#run.finishCaptured(this.#captured(reply, { status, fields, payload }))
    } catch (error) {
      await this.#run.finish({ kind: 'failure', error })
    }
  }

  #captured(
    reply: FastifyReply,
    { status, fields, payload }: { status: number; fields: readonly HeaderField[]; payload: unknown },
  ): WireResponse {
    const isText = typeof payload === 'string' || payload instanceof Uint8Array
    const type: HeaderField = [
      'content-type',
      isText ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8',
    ]
    const hasType = fields.some(([name]) => name.toLowerCase() === 'content-type')
    const body = isText ? payload : payload === undefined ? '' : serialized(reply, payload)
    return capturedResponse(status, hasType ? fields : [type, ...fields], body, this.#limitBytes)
  }
}

/** What runs before the handler has responded, and the handler will not start. */
const BEFORE_HANDLER: ResponseAuthor = { by: 'handler', ends: async () => true }

/** Returns a payload as the route of a reply serializes it. */
function serialized(reply: object, payload: unknown): string | Uint8Array {
  return (reply as { serialize(payload: unknown): string | Uint8Array }).serialize(payload)
}
