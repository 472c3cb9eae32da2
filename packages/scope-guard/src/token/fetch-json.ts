import { failureOf } from './key-url.ts'

/** The largest document that is read, in bytes: key sets and metadata have a few KiB. */
const MAX_BYTES = 1_048_576

/** Fetches a JSON object. Redirects are not followed. Rejects with an `Error` whose message names the URL and the cause. */
export async function fetchJson(url: URL, timeoutMs: number): Promise<Readonly<Record<string, unknown>>> {
  const fail = (cause: string): never => {
    throw new Error(`${url.href}: ${cause}`)
  }
  const text = await fetchText(url, timeoutMs, fail).catch((error: unknown) =>
    error instanceof Error && error.message.startsWith(url.href)
      ? Promise.reject(error)
      : fail(failureOf(error)),
  )
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

async function fetchText(url: URL, timeoutMs: number, fail: (cause: string) => never): Promise<string> {
  const response = await fetch(url, {
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
    headers: { accept: 'application/json' },
  })
  if (response.status !== 200) {
    await response.body?.cancel()
    const { status } = response
    fail(status >= 300 && status < 400 ? `redirects are not followed (HTTP ${status})` : `HTTP ${status}`)
  }
  const decoder = new TextDecoder()
  let text = ''
  let length = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength
    if (length > MAX_BYTES) fail(`the response is larger than ${MAX_BYTES} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text
}
