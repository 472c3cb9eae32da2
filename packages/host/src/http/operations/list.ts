import { allow, type Verdict } from '@gatewright/kernel'
import type { EpochMs, Surface } from '@gatewright/kernel/internal'
import * as Type from 'typebox/type'
import type { Static, TObject, TProperties } from 'typebox/type'
import type { PageOf } from '../../records/table.ts'
import { nextCursor } from '../../schemas/fields.ts'
import type { HostDenial } from '../codes.ts'
import { operation, type Call, type Operation } from './operation.ts'
import { counted } from '../../schemas/counted.ts'
import {
  createdRange,
  cutPage,
  pageParameters,
  placeCursor,
  rangeOf,
  readCursor,
  readPlaceCursor,
} from './paging.ts'

/** A row of a list: its place, and for a list by creation its time. */
interface ListedRow {
  readonly position: number
  readonly createdAt?: EpochMs
}

/** What differs between the paged lists of an account's records. */
export interface ListRule<T extends ListedRow, S extends TObject, F extends TProperties> {
  readonly id: string
  readonly title: string
  readonly details?: string
  /** Default: `user`. */
  readonly surface?: Surface
  readonly path: string
  readonly scopes: readonly string[]
  /** Name of the list in the response. */
  readonly name: string
  /** Name and description of the response in the API description: see `component`. */
  readonly component: { readonly title: string; readonly description: string }
  readonly item: S
  /** An item in the API description. */
  readonly example: Static<S>
  /** The most items of a page. Default: 100. */
  readonly most?: number
  /** How many items a page has without `limit`. Default: 20. */
  readonly defaultLimit?: number
  /** Whether the list is read by the time of creation, and has `from` and `to`. Lists of money are. */
  readonly byCreation?: boolean
  /** Query parameters beside these. */
  readonly filters?: F
  /** Reads the rows of a page in their order. `page.limit` is one more than the request's, to know whether there is a next page. */
  rows(
    accountId: string,
    page: PageOf,
    call: Pick<Call<'session', never, Static<TObject<F>>>, 'params' | 'query'>,
  ): Promise<readonly T[] | HostDenial>
  /** The rows as the response shows them. */
  write(rows: readonly T[], accountId: string): readonly object[] | Promise<readonly object[]>
}

/**
 * Declares a list of the caller's records, page by page: `limit` and `cursor` in the query, `nextCursor` in the response. It is null on
 * the last page.
 */
export function listOperation<T extends ListedRow, S extends TObject, F extends TProperties = TProperties>(
  rule: ListRule<T, S, F>,
): Operation {
  const { id, title, details, surface = 'user', path, scopes, name, component, item, example } = rule
  return operation({
    id,
    title,
    ...(details === undefined ? {} : { details }),
    surface,
    method: 'GET',
    paths: [path],
    credential: 'session',
    scopes,
    denies: path.includes('{') ? [404] : [],
    query: Type.Object({
      ...pageParameters(rule.most, rule.defaultLimit),
      ...(rule.byCreation ? createdRange : {}),
      ...rule.filters,
    }),
    response: Type.Object({ [name]: Type.Array(item), nextCursor }, component),
    example: { response: { [name]: [example], nextCursor: null } },
    async handle({ caller, params, query }) {
      const { limit, cursor } = query
      const { accountId } = caller.session
      const place = rule.byCreation
        ? createdPlace(cursor, query as Static<TObject<typeof createdRange>>)
        : positionPlace(cursor)
      if (!place.ok) return place
      const page = { ...place.value, limit: limit + 1 }
      const found = await rule.rows(accountId, page, { params, query: query as never })
      if ('ok' in found) return found
      const { items, nextCursor } = cutPage(found, limit, rule.byCreation ? createdCursor : undefined)
      return allow({
        data: { [name]: await rule.write(items, accountId), nextCursor },
        summary: `${counted(items.length, name)}.`,
      })
    },
  })
}

/** Where a page begins, and which rows it has. */
type PagePlace = Omit<PageOf, 'limit'>

function positionPlace(cursor: string | undefined): Verdict<PagePlace, HostDenial> {
  const after = readCursor(cursor)
  return after.ok ? allow({ after: after.value }) : after
}

/** Reads the place and the range of a list by creation. */
function createdPlace(
  cursor: string | undefined,
  given: Static<TObject<typeof createdRange>>,
): Verdict<PagePlace, HostDenial> {
  const place = readPlaceCursor(cursor)
  if (!place.ok) return place
  const range = rangeOf(given)
  if (!range.ok) return range
  const { value: after } = place
  return allow({ after: after?.position ?? 0, created: { after: after?.at, ...range.value } })
}

const createdCursor = ({ createdAt, position }: ListedRow): string =>
  placeCursor({ at: createdAt as EpochMs, position })
