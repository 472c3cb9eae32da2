import { problemOf, UNREACHABLE, type Problem } from '../../../shared/api.ts'
import { button, el } from '../../../shared/dom.ts'
import { announce } from '../../../shared/live.ts'
import type { ConsoleContext } from '../context.ts'
import { queryOf } from '../filter-bar.ts'
import { problemNote } from '../states.ts'

/**
 * Makes the button that saves the list of the open page as a CSV file, chosen by the filters of these names. A problem is shown beside
 * it.
 */
export function exportButton(
  context: ConsoleContext,
  path: `/${string}.csv`,
  filters: readonly string[],
): HTMLElement {
  let note: HTMLElement | undefined
  const save = async (): Promise<void> => {
    const file = path.slice(path.lastIndexOf('/') + 1)
    const problem = await saveExport(context, `/user/v1${path}?${queryOf(context, filters)}`, file)
    note?.remove()
    note = problem ? problemNote('Nothing was exported.', problem) : rangeNote(queryOf(context, filters))
    if (note) made.after(note)
    if (!problem) announce('Exported.')
  }
  const made = button('Export CSV', save, 'small')
  return made
}

/** Says which days are in a file whose filters name no first day: the list on the page has all days. */
function rangeNote(filters: URLSearchParams): HTMLElement | undefined {
  if (filters.has('from')) return undefined
  const text = `Exported 90 days up to ${filters.get('to') ?? 'today'}. Choose From for others, 366 days at most.`
  return el('p', { class: 'muted small' }, text)
}

/** Lets the browser save a file that the host sends. Resolves to the problem, if any. */
async function saveExport(
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
    // Excel reads a file without a byte order mark in an old encoding of the machine. The API sends none: its header field says UTF-8, and
    // to programs the mark would be a part of the name of the first column.
    const file = new Blob(['\ufeff', await response.blob()], { type: 'text/csv' })
    const href = URL.createObjectURL(file)
    el('a', { href, download: name }).click()
    // The download has begun by then, and keeps the file.
    setTimeout(() => URL.revokeObjectURL(href), 60_000)
    return undefined
  } catch {
    return UNREACHABLE
  }
}
