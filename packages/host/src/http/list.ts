import { allow } from '@gatewright/kernel'
import type { Surface } from '@gatewright/kernel/internal'
import * as Type from 'typebox/type'
import type { Static, TObject, TProperties } from 'typebox/type'
import type { PageOf } from '../records/table.ts'
import { nextCursor } from '../schemas/fields.ts'
import type { HostDenial } from './codes.ts'
import { operation, type Call, type Operation } from './operation.ts'
import { counted } from '../schemas/counted.ts'
import { createdRange, cutPage, pageParameters, rangeOf, readCursor } from './paging.ts'

/** What differs between the paged lists of an account's records. */
export interface ListRule<T extends { readonly position: number }, S extends TObject, F extends TProperties> {
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
  /** Whether the list has `from` and `to`, which choose rows by their time of creation. Lists of money have them. */
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
export function listOperation<
  T extends { readonly position: number },
  S extends TObject,
  F extends TProperties = TProperties,
>(rule: ListRule<T, S, F>): Operation {
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
      const after = readCursor(cursor)
      if (!after.ok) return after
      const range = rangeOf(query as Static<TObject<typeof createdRange>>)
      if (!range.ok) return range
      const found = await rule.rows(
        accountId,
        { after: after.value, limit: limit + 1, ...range.value },
        { params, query: query as never },
      )
      if ('ok' in found) return found
      const page = cutPage(found, limit)
      return allow({
        data: { [name]: await rule.write(page.items, accountId), nextCursor: page.nextCursor },
        summary: `${counted(page.items.length, name)}.`,
      })
    },
  })
}
