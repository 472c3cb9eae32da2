import { readText, withDeadline } from '@gatewright/kernel/internal'
import { failureOf } from './key-url.ts'

/** The largest document that is read, in bytes: key sets and metadata have a few KiB. */
const MAX_BYTES = 1_048_576

/** Fetches a JSON object. Redirects are not followed. Rejects with an `Error` whose message names the URL and the cause. */
export async function fetchJson(url: URL, timeoutMs: number): Promise<Readonly<Record<string, unknown>>> {
  const fail = (cause: string): never => {
    throw new Error(`${url.href}: ${cause}`)
  }
  const text = await fetchDocument(url, timeoutMs).catch((error: unknown) => fail(failureOf(error)))
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return fail('the response is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return fail('the response is not a JSON object')
  return value as Readonly<Record<string, unknown>>
}

/** Fetches a text of at most 1 MiB. Rejects for a status other than 200, for a redirect too, and when `timeoutMs` are over. */
export function fetchDocument(
  url: URL | string,
  timeoutMs: number,
  headers: Headers = new Headers({ accept: 'application/json' }),
): Promise<string> {
  return withDeadline({ ms: timeoutMs }, async signal => {
    const response = await fetch(url, { redirect: 'manual', signal, headers })
    const { status } = response
    if (status === 200) return readText(response, MAX_BYTES)
    void response.body?.cancel().catch(() => {})
    throw new Error(
      status >= 300 && status < 400 ? `redirects are not followed (HTTP ${status})` : `HTTP ${status}`,
    )
  })
}
