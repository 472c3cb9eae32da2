import type { Reply } from '../../shared/api.ts'
import { button, el, fill } from '../../shared/dom.ts'
import type { ConsoleContext } from './context.ts'
import { problemNote } from './states.ts'

/** A page of a list that is read from the newest row to the oldest. */
interface Page {
  /** Where the next page begins; null on the last one. */
  readonly nextCursor: string | null
}

/** Reads the page that begins at a cursor; null: the first one. */
type ReadPage<P> = (cursor: string | null) => Promise<Reply<P>>

/** How many pages without a row are read one after the other. For each, the host has looked at 500 rows. */
const MAX_EMPTY_PAGES = 20

/**
 * Makes the function that reads a list of the account page by page. It goes on while a page is empty, up to 20 times: what the filters choose
 * can be far back.
 */
export function listReader<P extends Page>(
  { call }: Pick<ConsoleContext, 'call'>,
  path: string,
  query: URLSearchParams,
  rowsOf: (page: P) => readonly unknown[],
): ReadPage<P> {
  const read: ReadPage<P> = cursor =>
    call<P>(`${path}?${query}${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`)
  return async cursor => {
    let page = await read(cursor)
    for (let n = 1; n < MAX_EMPTY_PAGES; n++) {
      if (!page.ok || rowsOf(page.data).length > 0 || page.data.nextCursor === null) break
      page = await read(page.data.nextCursor)
    }
    return page
  }
}

/** Makes the button that reads the next page and gives it to `add`. There is none after the last page. */
export function olderButton<P extends Page>(
  { nextCursor }: Page,
  read: ReadPage<P>,
  add: (page: P) => void,
): HTMLElement {
  const box = el('div', { class: 'lines' })
  const offer = (cursor: string | null): void =>
    fill(box, cursor !== null && button('Show older ones', () => readOlder(cursor), 'small'))
  const readOlder = async (cursor: string): Promise<void> => {
    const page = await read(cursor)
    if (!page.ok)
      return fill(
        box,
        problemNote('Older ones cannot be shown.', page.problem, () => readOlder(cursor)),
      )
    add(page.data)
    return offer(page.data.nextCursor)
  }
  offer(nextCursor)
  return box
}
