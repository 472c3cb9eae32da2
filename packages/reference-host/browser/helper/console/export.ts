import { problemOf, UNREACHABLE, type Problem } from '../../shared/api.ts'
import { el } from '../../shared/dom.ts'
import type { ConsoleContext } from './context.ts'

/** Lets the browser save a file that the host sends. Resolves to the problem, if any. */
export async function saveExport(
  { session }: Pick<ConsoleContext, 'session'>,
  path: string,
  name: string,
): Promise<Problem | undefined> {
  try {
    const response = await fetch(path, {
      headers: { authorization: `Bearer ${session.sessionToken}` },
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
    })
    if (!response.ok) return problemOf(response, (await response.json()) as Record<string, unknown>)
    const href = URL.createObjectURL(await response.blob())
    el('a', { href, download: name }).click()
    // The download has begun by then, and keeps the file.
    setTimeout(() => URL.revokeObjectURL(href), 60_000)
    return undefined
  } catch {
    return UNREACHABLE
  }
}
