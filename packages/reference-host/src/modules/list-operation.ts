import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import type { TObject } from 'typebox/type'
import type { PageOf } from '@gatewright/host/tables'
import { component, nextCursor } from '@gatewright/host/schemas'
import { type Example, type Operation, operation } from '@gatewright/host'
import { cutPage, pagingQuery, readPaging } from './paging.ts'

interface ListRule<T extends { readonly position: number }> {
  readonly id: string
  readonly title: string
  readonly path: string
  readonly scope: string
  /** Name of the list in the response. */
  readonly name: string
  /** Name of the response's schema in the API description. */
  readonly listName: string
  readonly item: TObject
  readonly example: Example
  page(accountId: string, page: PageOf): Promise<readonly T[]>
  wire(item: T): Record<string, unknown>
}

/** Declares a paged list of the caller's records on the user surface. */
export function listOperation<T extends { readonly position: number }>({
  id,
  title,
  path,
  scope,
  name,
  listName,
  item,
  example,
  page,
  wire,
}: ListRule<T>): Operation {
  return operation({
    id,
    title,
    surface: 'user',
    method: 'GET',
    paths: [path],
    credential: 'session',
    scopes: [scope],
    query: pagingQuery,
    response: Type.Object({ [name]: Type.Array(item), nextCursor }, component(listName, `A page of ${name}`)),
    example,
    async handle({ caller, facts }) {
      const paging = readPaging(facts.query)
      if (!paging.ok) return paging
      const { after, limit } = paging.value
      // One more than the limit, to know whether there is a next page.
      const found = await page(caller.session.accountId, { after, limit: limit + 1 })
      const { items, nextCursor } = cutPage(found, limit)
      return allow({
        data: { [name]: items.map(wire), nextCursor },
        summary: `${items.length} ${name}.`,
      })
    },
  })
}
