import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import type { Static, TObject, TProperties } from 'typebox/type'
import type { NewestPage, Place } from '../../records/newest-page.ts'
import { nextCursor } from '../../schemas/fields.ts'
import type { HostDenial } from '../codes.ts'
import type { ListRule } from './list.ts'
import { operation, type Operation } from './operation.ts'
import { counted } from '../../schemas/counted.ts'
import { createdRange, pageParameters, placeCursor, rangeOf, readPlaceCursor } from './paging.ts'

/** What differs between the lists of an account's records that are read by their time of creation. */
interface NewestListRule<T, S extends TObject, F extends TProperties>
  extends Omit<ListRule<{ readonly position: number }, S, F>, 'rows' | 'write' | 'filters' | 'byCreation'> {
  readonly filters: F
  /** Reads a page with `readNewest`. */
  rows(
    accountId: string,
    page: NewestPage,
    query: Static<TObject<F>>,
  ): Promise<{ readonly rows: readonly T[]; readonly next: Place | undefined } | HostDenial>
  /** The rows as the response shows them. */
  write(rows: readonly T[]): readonly object[]
}

type PageQuery = Static<TObject<ReturnType<typeof pageParameters> & typeof createdRange>>

/**
 * Declares a list of the caller's records, newest first, with `from` and `to` beside its own filters. A page can be short, or empty,
 * before the last one, whose `nextCursor` is null: see `readNewest`.
 */
export function newestListOperation<T, S extends TObject, F extends TProperties>(
  rule: NewestListRule<T, S, F>,
): Operation {
  const { id, title, surface = 'user', path, scopes, name, component, item, example } = rule
  return operation({
    id,
    title,
    surface,
    method: 'GET',
    paths: [path],
    credential: 'session',
    scopes,
    query: Type.Object({
      ...pageParameters(rule.most, rule.defaultLimit),
      ...createdRange,
      ...rule.filters,
    }),
    response: Type.Object({ [name]: Type.Array(item), nextCursor }, component),
    example: { response: { [name]: [example], nextCursor: null } },
    async handle({ caller, query }) {
      const { limit, cursor, from, to } = query as unknown as PageQuery
      const after = readPlaceCursor(cursor)
      if (!after.ok) return after
      const range = rangeOf({ from, to })
      if (!range.ok) return range
      const page = { ...range.value, after: after.value, limit }
      const found = await rule.rows(caller.session.accountId, page, query as never)
      if ('ok' in found) return found
      const nextPage = found.next ? placeCursor(found.next) : null
      return allow({
        data: { [name]: rule.write(found.rows), nextCursor: nextPage },
        summary: `${counted(found.rows.length, name)}.`,
      })
    },
  })
}
