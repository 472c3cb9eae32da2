import { accessorOf } from './accessor.ts'
import { isStream } from './captured-response.ts'
import type { HonoContext } from './fetch-types.ts'
import { canFollow, follow, partOf } from './handler-scope.ts'

/** The members of a Hono context that say what has been responded. */
type Finalized = HonoContext<unknown> & {
  finalized?: boolean
  error?: Error | undefined
  newResponse?: (...args: readonly unknown[]) => Response
}

/**
 * What the handlers after a guard make of a Hono context. If other code responds meanwhile, such as a time-out around the guard, Hono ignores
 * what a handler returns later. It is kept here, and the handlers see the context as if nobody else had responded.
 */
export class HonoWatch {
  /** Whether other code has responded while the handlers were running. */
  isReplaced = false
  /** The stream of a response that a function of `hono/streaming` has made: it hides the errors of its callback. */
  stream: object | undefined
  /** Called with a response that a handler makes after the guard has ended. */
  whenLate: ((response: Response) => void) | undefined
  /** What the handlers have thrown, if Hono has responded to it. */
  error: Error | undefined
  #response: Response | undefined
  /** Where no code can be followed: whether the response was set just now, as that of a handler that ends is. */
  #isFresh = false
  readonly #context: Finalized
  readonly #isBeforeHandler: boolean

  constructor(context: HonoContext<unknown>, guard: object) {
    this.#context = context
    this.#isBeforeHandler = isBeforeHandler(context, guard)
    this.#watch()
  }

  /** Calls the handlers, and returns their response. Undefined: they have made none, and other code has. */
  async run(next: () => Promise<void>): Promise<Response | undefined> {
    await follow(this, this, next)
    if (!canFollow && !this.#isFresh && this.#context.finalized) this.isReplaced = true
    if (this.isReplaced) return this.#response
    // Hono would make an empty 200 of a handler that returns nothing.
    return this.#context.finalized ? this.#context.res : undefined
  }

  /**
   * Whether the handlers are known to have ended. Another middleware between the guard and the handler, such as a time-out, may respond
   * earlier.
   */
  hasEnded(): boolean {
    return this.#isBeforeHandler
  }

  /** Says that a response is sent, and the handlers may go on. */
  leave(whenLate: (response: Response) => void): void {
    this.isReplaced = true
    this.#response = undefined
    this.whenLate = whenLate
  }

  /** Whether a handler of this request calls, and sees its own response. */
  #isApart(): boolean {
    return this.isReplaced && this.#isInside()
  }

  #isInside(): boolean {
    return !canFollow || partOf(this) !== undefined
  }

  #watch(): void {
    const context = this.#context
    const { newResponse } = context
    if (newResponse)
      context.newResponse = (...args) => {
        const [body] = args
        if (isStream(body) && this.#isInside()) this.stream = body
        return newResponse(...args)
      }
    const { get, set } = accessorOf(context, 'res')
    let { finalized, error } = context
    Object.defineProperties(context, {
      res: {
        configurable: true,
        get: () => (this.#isApart() && this.#response) || (get?.call(context) as unknown),
        set: (response: Response | undefined) => {
          if (this.#isApart()) this.#setApart(response)
          else {
            if (!this.#isInside()) this.isReplaced = true
            set?.call(context, response)
            this.#noteResponse(get?.call(context) as Response)
          }
        },
      },
      finalized: {
        configurable: true,
        enumerable: true,
        get: () => (this.#isApart() ? this.#response !== undefined : finalized),
        set(value: boolean) {
          finalized = value
        },
      },
      error: {
        configurable: true,
        enumerable: true,
        get: () => (this.#isApart() ? this.error : error),
        set: (value: Error | undefined) => {
          if (this.#isInside()) this.error = value
          else this.isReplaced = true
          if (!this.#isApart()) error = value
        },
      },
    })
  }

  #noteResponse(response: Response): void {
    if (this.#isInside()) this.#response = response
    if (canFollow) return
    this.#isFresh = true
    setTimeout(() => {
      this.#isFresh = false
    })
  }

  #setApart(response: Response | undefined): void {
    this.#response = response
    const late = this.whenLate
    this.whenLate = undefined
    if (response && late) late(response)
  }

  /** Ends watching: what is set from now on is set as ever. */
  end(): void {
    const { finalized, error } = this.#context
    const context = this.#context as Partial<Finalized>
    delete (context as { res?: unknown }).res
    Object.defineProperties(context, {
      finalized: { configurable: true, enumerable: true, writable: true, value: finalized },
      error: { configurable: true, enumerable: true, writable: true, value: error },
    })
  }
}

/** Whether the handler comes right after the guard, so that `next()` settles when it has ended: it takes no `next`, or it is the last. */
function isBeforeHandler({ req }: HonoContext<unknown>, guard: object): boolean {
  const { matchedRoutes = [], routeIndex = 0 } = req
  const [at, after] = matchedRoutes.slice(routeIndex)
  if (originalOf(at?.handler) !== guard || !after) return false
  return matchedRoutes.length === routeIndex + 2 || originalOf(after.handler)?.length === 1
}

/** Where Hono keeps the handler that it has wrapped. */
const WRAPPED = '__COMPOSED_HANDLER'
type HonoHandler = ((...given: never[]) => unknown) & { readonly [WRAPPED]?: HonoHandler }

/** Returns the handler that an application with an error handler of its own has wrapped. */
function originalOf(handler: unknown): HonoHandler | undefined {
  const given = handler as HonoHandler | undefined
  const wrapped = given?.[WRAPPED]
  return wrapped ? originalOf(wrapped) : given
}
