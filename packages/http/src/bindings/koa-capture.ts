import { accessorOf } from './accessor.ts'
import type { HeaderField } from '@gatewright/kernel'
import { jsonOf } from '../response/http-response.ts'
import { hadNoEffect } from '../response/no-effect.ts'
import type { Run } from '../route/run.ts'
import type { Route } from '../route/steps.ts'
import type { Settings } from '../options.ts'
import type { WireResponse } from '../ports.ts'
import { addedFields, capturedResponse, fieldPairs, isStream, streamError } from './captured-response.ts'
import { follow, partOf, stopFollowing } from './handler-scope.ts'
import type { KoaContext, KoaResponder } from './koa-types.ts'
import { fieldsByName, writeWire } from './node-response.ts'

/**
 * Sends a response through Koa. Where `ctx.respond` is false, Koa sends nothing, so the response is written at once. So is a body that
 * is made piece by piece: middleware cannot read it.
 */
export function sendText(ctx: KoaResponder, response: WireResponse): void {
  const { status, headers, body, chunks } = response
  if (chunks || ctx.respond === false) {
    ctx.respond = false
    return writeWire(ctx.req, ctx.res, response)
  }
  // Before the body, for which Koa otherwise looks for a type.
  for (const [name, values] of fieldsByName(headers)) ctx.set(name, values)
  ctx.body = body === '' ? null : body
  // Koa changes the status of an empty response to 204.
  ctx.status = status
}

/** What capturing the response of the middleware after a guard needs. */
interface Capture {
  readonly ctx: KoaContext
  readonly next: () => Promise<unknown>
  readonly route: Pick<Route<never>, 'operation' | 'noEffectStatuses'>
  readonly run: Run<unknown>
  readonly settings: Pick<Settings, 'responseLimitBytes' | 'hints'>
  /** The guard as it is mounted. */
  readonly guard: object
}

/**
 * Ends the run with the response that the middleware after the guard has left in the context, before Koa sends it. If other code has set a
 * response meanwhile, such as a time-out around the guard, ends it with what the handler has set. A response of 400 or more ends the run only
 * if the handler comes right after the guard, so that it is known to have ended; otherwise the outcome is unknown.
 */
export async function captureKoa(capture: Capture): Promise<void> {
  const { ctx } = capture
  const ending = new KoaEnding(capture)
  await ending.follow()
  ending.noteSilence()
  if (ctx.res.headersSent || (ending.isReplaced && ctx.status >= 400)) return ending.recordOwn()
  const body = await ending.readBody()
  if (body === undefined) return undefined
  if (ctx.status >= 400 && !isBeforeHandler(capture)) return ending.leaveOpen()
  return ending.recordLeft(body)
}

/** How the run of one request ends, step by step. */
class KoaEnding {
  readonly #capture: Capture
  readonly #own: OwnResponse
  #left: Promise<void> | undefined
  #hasEnded = false

  constructor(capture: Capture) {
    const { ctx } = capture
    this.#capture = capture
    this.#own = watchResponse(ctx)
    ctx.res.on('finish', () => {
      if (!this.#hasEnded) void this.#leave()
    })
  }

  /** Whether other code than the middleware after the guard has set the response. */
  get isReplaced(): boolean {
    return this.#own.isReplaced
  }

  /** Runs the middleware after the guard. An error that it throws ends the run, and Koa renders it. */
  async follow(): Promise<void> {
    const { next, run } = this.#capture
    try {
      await follow(this.#own, this.#own, next)
      this.#hasEnded = true
    } catch (error) {
      this.#hasEnded = true
      await this.#left
      await run.fail({ error, status: statusOf(error) })
      throw error
    }
  }

  /** Tells the operator if the middleware after the guard has ended and set no response: it may go on, and Koa sends 404. */
  noteSilence(): void {
    const { ctx, route, settings } = this.#capture
    if (
      this.#own.status() !== undefined ||
      ctx.status !== 404 ||
      ctx.respond === false ||
      ctx.res.headersSent
    )
      return
    settings.hints.mistake(
      `no response to ${route.operation}`,
      `${route.operation}: nothing after the guard has set a response, so Koa sends 404, and nothing counts as spent. Return or await what responds later, and write await next() in each middleware`,
    )
  }

  /** Reads the body that Koa will send. Undefined: it cannot be recorded, so the run has failed, and its response is set. */
  async readBody(): Promise<string | Uint8Array | undefined> {
    const { ctx, route, run } = this.#capture
    try {
      return bodyOf(route.operation, ctx)
    } catch (error) {
      const output = await run.finish({ kind: 'failure', error })
      // A handler that has set it to false writes the response itself.
      if (ctx.respond === false) return undefined
      ctx.body = null
      sendText(ctx, output)
      return undefined
    }
  }

  /** Ends the run with the response in the context. If another run has completed meanwhile, replaces it. */
  async recordLeft(body: string | Uint8Array): Promise<void> {
    const { ctx, run } = this.#capture
    stopFollowing(this.#own)
    const captured = this.#captured(ctx.status, fieldPairs({ ...ctx.response.headers }), body)
    const output = await run.finishCaptured(captured)
    if (output.status !== captured.status) return sendText(ctx, output)
    for (const [name, value] of addedFields(captured, output)) ctx.set(name, value)
  }

  /** Ends the run with what the middleware after the guard has set, where Koa sends something else. The outcome is unknown until then. */
  async recordOwn(): Promise<void> {
    const { ctx, route, run } = this.#capture
    const own = this.#own
    await this.#leave()
    const status = own.status()
    if (status === undefined || (status >= 400 && !isBeforeHandler(this.#capture))) return
    stopFollowing(own)
    try {
      const body = bodyOf(route.operation, { body: own.body, res: ctx.res, respond: ctx.respond })
      await run.finishCaptured(this.#captured(status, own.fields(), body))
    } catch (error) {
      await run.finish({ kind: 'failure', error })
    }
  }

  /** Ends the run if its status says that nothing happened. Otherwise the handler may go on, and what it sets then is its response. */
  async leaveOpen(): Promise<void> {
    const { ctx, route, run } = this.#capture
    const { status } = ctx
    if (hadNoEffect(route.noEffectStatuses, { status })) return run.fail({ status })
    this.#own.whenSetLate = () => void this.recordOwn()
    return this.#leave()
  }

  #leave(): Promise<void> {
    const { ctx, run } = this.#capture
    this.#left ??= run.leaveUnknown(ctx.res.statusCode)
    return this.#left
  }

  #captured(status: number, fields: readonly HeaderField[], body: string | Uint8Array): WireResponse {
    return capturedResponse(status, fields, body, this.#capture.settings.responseLimitBytes)
  }
}

/** What the middleware after a guard has set, whether or not Koa could still send it. */
class OwnResponse {
  #status: number | undefined
  #hasBody = false
  body: unknown
  readonly #fields = new Map<string, unknown>()
  /** Whether other code has set the status or the body meanwhile. */
  isReplaced = false
  /** Called when a body was set after the response. */
  whenSetLate: (() => void) | undefined

  note(name: string, value: unknown): void {
    if (partOf(this) === undefined) this.isReplaced = true
    else if (name === 'status') this.#status = value as number
    else {
      this.body = value
      this.#hasBody = true
      const late = this.whenSetLate
      this.whenSetLate = undefined
      // The status may be set after the body.
      if (late) setImmediate(late)
    }
  }

  noteFields(given: unknown, value: unknown): void {
    if (partOf(this) === undefined) return
    const entries = typeof given === 'string' ? [[given, value] as const] : Object.entries(given ?? {})
    for (const [name, each] of entries) this.#fields.set(name.toLowerCase(), each)
  }

  /** Undefined: nothing was set. */
  status(): number | undefined {
    if (this.#status !== undefined || !this.#hasBody) return this.#status
    return this.body === null || this.body === undefined ? 204 : 200
  }

  fields(): readonly HeaderField[] {
    const isText = typeof this.body === 'string' || this.body instanceof Uint8Array
    const type = isText ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8'
    return fieldPairs({ 'content-type': type, ...Object.fromEntries(this.#fields) })
  }
}

/** Notes what is set on the response of a context. Koa ignores what is set after the response was sent. */
function watchResponse({ response }: KoaContext): OwnResponse {
  const own = new OwnResponse()
  for (const name of ['status', 'body']) {
    const { get, set } = accessorOf(response, name)
    Object.defineProperty(response, name, {
      configurable: true,
      get: () => get?.call(response) as unknown,
      set(value: unknown) {
        own.note(name, value)
        set?.call(response, value)
      },
    })
  }
  const { set } = response as { set?: (name: unknown, value: unknown) => unknown }
  Object.defineProperty(response, 'set', {
    configurable: true,
    value: (name: unknown, value: unknown): unknown => {
      own.noteFields(name, value)
      return set?.call(response, name, value)
    },
  })
  return own
}

/**
 * Whether the handler comes right after the guard, so that `next()` settles when it has ended: it takes no `next`, or it is the last of its
 * route. Another middleware in between, such as a time-out, may settle earlier.
 */
function isBeforeHandler({ ctx: { app, matched = [], method }, guard }: Capture): boolean {
  const layers = matched.filter(({ methods }) => methods.length === 0 || methods.includes(method ?? ''))
  const inRoute = layers.flatMap(({ stack }) => stack)
  if (inRoute.includes(guard)) {
    const after = inRoute.slice(inRoute.indexOf(guard) + 1)
    return after.length === 1 || takesNoNext(after[0])
  }
  const inApp = app?.middleware ?? []
  return inApp.includes(guard) && takesNoNext(inApp[inApp.indexOf(guard) + 1])
}

const takesNoNext = (handler: unknown): boolean => typeof handler === 'function' && handler.length === 1

/** Returns the body that Koa will send. Throws for a stream, and for a value that JSON cannot represent. */
function bodyOf(
  operation: string,
  { body, res, respond }: Pick<KoaContext, 'body' | 'res' | 'respond'>,
): string | Uint8Array {
  if (isStream(body) || body instanceof Blob || body instanceof Response || respond === false)
    throw streamError(operation, body ?? res)
  if (typeof body === 'string' || body instanceof Uint8Array) return body
  return body === null || body === undefined ? '' : jsonOf(body)
}

/** Returns the status that Koa sends for an error. */
function statusOf(error: unknown): number {
  const { status, statusCode } = (error ?? {}) as { status?: unknown; statusCode?: unknown }
  const given = status ?? statusCode
  return typeof given === 'number' && given >= 400 ? given : 500
}
