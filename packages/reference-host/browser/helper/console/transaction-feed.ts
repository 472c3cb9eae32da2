import type { Problem, Reply } from '../../shared/api.ts'
import { newRows } from './new-rows.ts'
import type { Transaction } from './wire.ts'

/** A page of a list, newest first. */
interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | null
}

/** The transactions of the account, kept while the console is open. */
export type TransactionFeed = Feed<Transaction>

/** A list of the account that is read page by page. */
export interface Feed<T> {
  /** What was read so far, newest first. */
  readonly items: readonly T[]
  /** Whether all of them were read. */
  readonly complete: boolean
  /** Reads one more page. Resolves to the problem, if any. Simultaneous calls share one read. */
  more(): Promise<Problem | undefined>
  /** Reads until `enough` returns true, or all. `progress` is called after each page. */
  until(enough: () => boolean, progress: () => void): Promise<Problem | undefined>
  /** Forgets all of them, so that the next read begins with the newest. */
  clear(): void
}

/** How many seconds to wait at most when the host responds with 429. */
const MAX_WAIT_S = 60

/** Makes a feed over a function that reads one page. */
export function pagedFeed<T extends { readonly id: string }>(
  read: (cursor: string | undefined) => Promise<Reply<Page<T>>>,
): Feed<T> {
  let items: T[] = []
  let cursor: string | undefined
  let complete = false
  let reading: Promise<Problem | undefined> | undefined
  let round = 0

  const readPage = async (): Promise<Problem | undefined> => {
    const mine = round
    const reply = await read(cursor)
    if (mine !== round) return undefined
    if (!reply.ok) return reply.problem
    items.push(...newRows(items, reply.data.items, ({ id }) => id))
    cursor = reply.data.nextCursor ?? undefined
    complete = cursor === undefined
    return undefined
  }
  const more = (): Promise<Problem | undefined> => {
    if (complete) return Promise.resolve(undefined)
    if (!reading) {
      const mine = readPage().finally(() => {
        if (reading === mine) reading = undefined
      })
      reading = mine
    }
    return reading
  }
  return {
    get items() {
      return items
    },
    get complete() {
      return complete
    },
    more,
    async until(enough, progress) {
      for (;;) {
        if (complete || enough()) return undefined
        const problem = await more()
        if (problem?.status === 429 && (problem.retryAfterSeconds ?? MAX_WAIT_S) <= MAX_WAIT_S)
          await new Promise(resolve => setTimeout(resolve, (problem.retryAfterSeconds ?? 1) * 1000))
        else if (problem) return problem
        progress()
      }
    },
    clear() {
      round++
      // A page that is being read belongs to the old list.
      reading = undefined
      items = []
      cursor = undefined
      complete = false
    },
  }
}

/** Makes the function that reads a page of a list of the host, under the name that the list has in its response. */
export function pageReader<T>(
  call: (path: string) => Promise<Reply<Record<string, unknown>>>,
  { path, name, query }: { readonly path: string; readonly name: string; readonly query: URLSearchParams },
): (cursor: string | undefined) => Promise<Reply<Page<T>>> {
  return async cursor => {
    const all = new URLSearchParams(query)
    all.set('limit', '100')
    if (cursor !== undefined) all.set('cursor', cursor)
    const reply = await call(`${path}?${all}`)
    if (!reply.ok) return reply
    return {
      ok: true,
      data: {
        items: reply.data[name] as readonly T[],
        nextCursor: reply.data['nextCursor'] as string | null,
      },
    }
  }
}
