import type { Reply } from '../../shared/api.ts'
import type { ConsoleContext } from './context.ts'
import { newRows } from './new-rows.ts'
import type { Key } from './wire.ts'

interface Page {
  readonly keys: readonly Key[]
  readonly nextCursor: string | null
}

/**
 * Reads all keys of the account, page by page. The host bounds the number of live and ended keys, so the number of pages is
 * bounded.
 */
export async function readAllKeys({ call }: Pick<ConsoleContext, 'call'>): Promise<Reply<readonly Key[]>> {
  const keys: Key[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const page: Reply<Page> = await call<Page>(`/keys?limit=100${after}`)
    if (!page.ok) return page
    keys.push(...newRows(keys, page.data.keys, ({ id }) => id))
    cursor = page.data.nextCursor
  }
  return { ok: true, data: keys }
}

/** The name of a key: its label, or else the end of its id. */
export function keyName({ label, id, console }: Pick<Key, 'label' | 'id' | 'console'>): string {
  return label ?? (console ? 'Console' : `…${id.slice(-6)}`)
}
