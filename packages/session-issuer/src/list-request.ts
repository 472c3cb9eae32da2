import { integerOption } from '@gatewright/kernel/internal'
import type { ListPosition } from './storage/port.ts'

/** Which page of a list to read. */
export interface ListRequest {
  /** Maximum number of rows of the page, 1 to 100. Default 50. */
  readonly limit?: number
  /** The `next` of the page before. Default: the first page. */
  readonly after?: ListPosition
}

/** Checks the request of a page and adds the default. Throws a `TypeError` for a wrong `limit`. */
export function checkedListRequest({ limit = 50, after }: ListRequest): {
  readonly limit: number
  readonly after: ListPosition | undefined
} {
  return { limit: integerOption('limit', limit, 1, 100), after }
}
