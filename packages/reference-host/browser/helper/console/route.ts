/** The pages of the console, as addresses name them. */
export type PageId =
  | 'overview'
  | 'transactions'
  | 'payins'
  | 'cards'
  | 'keys'
  | 'approvals'
  | 'sessions'
  | 'requests'
  | 'audit'
  | 'notifications'
  | 'settings'

/** A place in the console: a page, and the row whose drawer is open. */
export interface Route {
  readonly page: string
  readonly row: string | undefined
  /** Filters of the page, such as `keyId=ID`. */
  readonly query: URLSearchParams
}

/** Writes the address of a page or of a row: `#/keys`, `#/keys/ID`, `#/requests?keyId=ID`. */
export function addressOf(
  page: PageId,
  { row, query }: { readonly row?: string; readonly query?: Readonly<Record<string, string>> } = {},
): string {
  const filters = new URLSearchParams(query).toString()
  return `#/${page}${row === undefined ? '' : `/${encodeURIComponent(row)}`}${filters && `?${filters}`}`
}

/** Whether a fragment is an address of the console. */
export const isConsoleAddress = (hash: string): boolean => hash.startsWith('#/')

/** Reads an address of the console; undefined for another fragment, and for one that is not well-formed. */
export function parseAddress(hash: string): Route | undefined {
  const [, page = '', row, query] = /^#\/([a-z]+)(?:\/([^/?]+))?(?:\?(.*))?$/.exec(hash) ?? []
  if (page === '') return undefined
  try {
    const id = row === undefined ? undefined : decodeURIComponent(row)
    return { page, row: id, query: new URLSearchParams(query) }
  } catch {
    return undefined
  }
}
