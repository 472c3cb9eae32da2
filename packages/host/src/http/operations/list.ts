import { allow, type Verdict, type EpochMs } from '@gatewright/kernel'
import type { Surface } from '@gatewright/kernel/internal'
import * as Type from 'typebox/type'
import type { Static, TObject, TProperties } from 'typebox/type'
import type { NewestPage, Place } from '../../records/newest-page.ts'
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
export interface ListedRow {
  readonly position: number
  readonly createdAt?: EpochMs
}

/** What all paged lists of an account's records say. */
interface ListShape<S extends TObject, F extends TProperties> {
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
  /** Query parameters beside these. */
  readonly filters?: F
}

type ListCall<F extends TProperties> = Pick<Call<'session', never, Static<TObject<F>>>, 'params' | 'query'>

/** What differs between the lists whose rows tell their places. */
export interface ListRule<T extends ListedRow, S extends TObject, F extends TProperties>
  extends ListShape<S, F> {
  readonly newestFirst?: false
  /** Whether the list is read by the time of creation, and has `from` and `to`. Lists of money are. */
  readonly byCreation?: boolean
  /** Reads the rows of a page in their order. `page.limit` is one more than the request's, to know whether there is a next page. */
  rows(accountId: string, page: PageOf, call: ListCall<F>): Promise<readonly T[] | HostDenial>
  /** The rows as the response shows them. */
  write(rows: readonly T[], accountId: string): readonly object[] | Promise<readonly object[]>
}

/**
 * What differs between the lists that `readNewest` reads by their time of creation. They have `from` and `to`. A page can be short, or
 * empty, before the last one.
 */
export interface NewestListRule<T, S extends TObject, F extends TProperties> extends ListShape<S, F> {
  readonly newestFirst: true
  /** Reads a page with `readNewest`. */
  rows(
    accountId: string,
    page: NewestPage,
    call: ListCall<F>,
  ): Promise<{ readonly rows: readonly T[]; readonly next: Place | undefined } | HostDenial>
  /** The rows as the response shows them. */
  write(rows: readonly T[], accountId: string): readonly object[] | Promise<readonly object[]>
}

/** A page as the response has it. */
interface WrittenPage {
  readonly items: readonly object[]
  readonly nextCursor: string | null
}

type Paging = Static<TObject<ReturnType<typeof pageParameters> & typeof createdRange>>

/** Reads the page that a query asks for. */
type ReadPage = (accountId: string, query: Paging, call: ListCall<never>) => Promise<WrittenPage | HostDenial>

/**
 * Declares a list of the caller's records, page by page: `limit` and `cursor` in the query, `nextCursor` in the response. It is null on
 * the last page.
 */
export function listOperation<T extends ListedRow, S extends TObject, F extends TProperties = TProperties>(
  rule: ListRule<T, S, F>,
): Operation
export function listOperation<T, S extends TObject, F extends TProperties>(
  rule: NewestListRule<T, S, F>,
): Operation
export function listOperation(
  rule: ListRule<ListedRow, TObject, TProperties> | NewestListRule<unknown, TObject, TProperties>,
): Operation {
  const { id, title, details, surface = 'user', path, scopes, name, component, item, example } = rule
  const readPage = rule.newestFirst ? newestPage(rule) : positionPage(rule)
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
      ...(rule.newestFirst || rule.byCreation ? createdRange : {}),
      ...rule.filters,
    }),
    response: Type.Object({ [name]: Type.Array(item), nextCursor }, component),
    example: { response: { [name]: [example], nextCursor: null } },
    async handle({ caller, params, query }) {
      const page = await readPage(caller.session.accountId, query as Paging, {
        params,
        query: query as never,
      })
      if ('ok' in page) return page
      return allow({
        data: { [name]: page.items, nextCursor: page.nextCursor },
        summary: `${counted(page.items.length, name)}.`,
      })
    },
  })
}

function positionPage(rule: ListRule<ListedRow, TObject, TProperties>): ReadPage {
  return async (accountId, query, call) => {
    const place = rule.byCreation ? createdPlace(query.cursor, query) : positionPlace(query.cursor)
    if (!place.ok) return place
    const found = await rule.rows(accountId, { ...place.value, limit: query.limit + 1 }, call)
    if ('ok' in found) return found
    const page = cutPage(found, query.limit, rule.byCreation ? createdCursor : undefined)
    return { items: await rule.write(page.items, accountId), nextCursor: page.nextCursor }
  }
}

function newestPage(rule: NewestListRule<unknown, TObject, TProperties>): ReadPage {
  return async (accountId, query, call) => {
    const after = readPlaceCursor(query.cursor)
    if (!after.ok) return after
    const range = rangeOf(query)
    if (!range.ok) return range
    const found = await rule.rows(accountId, { ...range.value, after: after.value, limit: query.limit }, call)
    if ('ok' in found) return found
    return {
      items: await rule.write(found.rows, accountId),
      nextCursor: found.next ? placeCursor(found.next) : null,
    }
  }
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
