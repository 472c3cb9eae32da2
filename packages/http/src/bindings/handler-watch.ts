import { follow, partOf } from './handler-scope.ts'

/**
 * Who writes a response of 400 or more. `handler`: `ends` says whether it was the last that the handler did. `other`: somebody else, such as a
 * time-out, and the handler may go on. `unknown`: it cannot be determined.
 */
export type ResponseAuthor =
  | { readonly by: 'handler'; ends(): Promise<boolean> }
  | { readonly by: 'error handler'; readonly error: unknown }
  | { readonly by: 'other' | 'unknown' }

/** One function that handles a request. */
export class HandlerPart {
  /** Whether the call has not returned yet. */
  isCalling = true
  /** Whether the function returned a promise, so that its end can be seen. */
  isAsync = false
  hasEnded = false
  hasFailed = false
  #settle: () => void = () => {}
  readonly ended: Promise<void> = new Promise(resolve => {
    this.#settle = resolve
  })

  end(failed: boolean): void {
    this.hasEnded = true
    this.hasFailed ||= failed
    this.#settle()
  }
}

/**
 * Watches the functions that handle a request after its guard, one after the other. The last that has started is the one that may respond:
 * those before it have called `next`.
 */
export class HandlerWatch {
  last: HandlerPart | undefined
  /** Whether the run has ended without an effect, so that nothing may start any more. */
  isClosed = false

  /** Calls a function of the handler, and notes how it ends. Errors pass. Does not call it if the run has ended without an effect. */
  call(work: (part: HandlerPart) => unknown): unknown {
    if (this.isClosed) return undefined
    const part = new HandlerPart()
    this.last = part
    let result: unknown
    try {
      result = follow(this, part, () => work(part))
    } catch (error) {
      part.end(true)
      throw error
    } finally {
      part.isCalling = false
    }
    if (!isThenable(result)) {
      part.end(false)
      return result
    }
    part.isAsync = true
    // Returned, so that a rejection that nobody handles is reported as before.
    return Promise.resolve(result).then(
      value => {
        part.end(false)
        return value
      },
      (error: unknown) => {
        part.end(true)
        throw error
      },
    )
  }

  /** Whether the current function was called by a handler of this request. */
  isInside(): boolean {
    return partOf(this) !== undefined
  }

  /** Makes the author of a response that a part writes. A part that goes on after it may still have its effect. */
  handler(part: HandlerPart): ResponseAuthor {
    return {
      by: 'handler',
      ends: async () => {
        await Promise.race([part.ended, new Promise(resolve => setImmediate(resolve))])
        return part.hasEnded && !part.hasFailed && this.last === part
      },
    }
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
