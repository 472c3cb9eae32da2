import type { Denial } from '@gatewright/kernel'
import { statusesOf } from './no-effect.ts'
import type { Outcome } from './outcome.ts'
import { statusPhrase } from './status-phrase.ts'

/**
 * Returns the response that a handler has thrown, as frameworks let it do to end early: a `Response`, and what `redirect()`, `notFound()`,
 * `forbidden()` and `unauthorized()` of Next throw, which their `digest` says. Undefined for any other error.
 */
export function thrownResponse(error: unknown): Response | undefined {
  if (error instanceof Response) return error
  try {
    const { digest } = error as { readonly digest?: unknown }
    return typeof digest === 'string' ? responseOfDigest(digest) : undefined
  } catch {
    // A getter of the error threw, or a location cannot be sent.
    return undefined
  }
}

/**
 * Reads `NEXT_REDIRECT;replace;/path;307;` and `NEXT_HTTP_ERROR_FALLBACK;404`, or `NEXT_NOT_FOUND` of Next 14. The location may have
 * semicolons, too.
 */
function responseOfDigest(digest: string): Response | undefined {
  const [kind, ...rest] = digest.split(';')
  if (kind === 'NEXT_REDIRECT') {
    const status = Number(rest.at(-2))
    const location = rest.slice(1, -2).join(';')
    return [303, 307, 308].includes(status)
      ? new Response(null, { status, headers: { location } })
      : undefined
  }
  if (digest === 'NEXT_NOT_FOUND') return new Response(null, { status: 404 })
  if (kind !== 'NEXT_HTTP_ERROR_FALLBACK') return undefined
  const status = Number(rest[0])
  return [401, 403, 404].includes(status) ? new Response(null, { status }) : undefined
}

/** Returns the outcome of a handler that threw: the response that it has thrown, or a failure. */
export async function thrownOutcome(error: unknown): Promise<Outcome> {
  const response = thrownResponse(error)
  if (!response || response.status < 200) return { kind: 'failure', error }
  try {
    const body = await response.text()
    const { status, headers } = response
    return {
      kind: 'response',
      response: { status, headers: [...headers], body: body === '' ? undefined : body },
    }
  } catch {
    return { kind: 'failure', error }
  }
}

/**
 * Whether an error only says how a response continues, as an `HttpException` of Nest or an `HTTPException` of Hono with a status of a
 * redirect: the framework responds with it as with a returned response.
 */
export function isRedirect(error: unknown): boolean {
  const statuses = statusesOf(error)
  return statuses.length > 0 && statuses.every(status => status >= 300 && status < 400)
}

/**
 * Returns the outcome to send for a handler that failed without any effect: with an error whose status is 400 to 499, a denial of that status,
 * else the failure. The message of the error is sent only if the error says that it may be (`expose`, as of `http-errors`).
 */
export function outcomeOfFailure(outcome: Outcome): Outcome {
  if (outcome.kind !== 'failure') return outcome
  const [status = 0] = statusesOf(outcome.error)
  if (!(Number.isInteger(status) && status >= 400 && status <= 499)) return outcome
  const phrase = statusPhrase(status)
  const { expose, message } = outcome.error as { readonly expose?: unknown; readonly message?: unknown }
  const denial: Denial = {
    ok: false,
    code: phrase.toLowerCase().replaceAll(/[^a-z]+/g, '_'),
    status,
    message: expose === true && typeof message === 'string' ? message : phrase,
  }
  return { kind: 'denial', denial }
}

/**
 * Returns the outcome to send for the handler of a read that failed: that of `outcomeOfFailure` for an error which a framework has made for its
 * response (`http-errors` and `ctx.throw` of Koa say `expose`, those of Hono and Nest have `getResponse`). An error of an HTTP client has a
 * status, too, but that of another server's response.
 */
export function outcomeOfRead(outcome: Outcome): Outcome {
  if (outcome.kind !== 'failure' || typeof outcome.error !== 'object' || outcome.error === null)
    return outcome
  const { expose, getResponse } = outcome.error as {
    readonly expose?: unknown
    readonly getResponse?: unknown
  }
  return typeof expose === 'boolean' || typeof getResponse === 'function'
    ? outcomeOfFailure(outcome)
    : outcome
}
