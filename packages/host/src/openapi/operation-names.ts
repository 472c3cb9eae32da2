import type { Operation } from '../http/operation.ts'

/** An operation under the name that its `operationId` and its components have. */
export type NamedOperation = Operation & { readonly name: string }

/** Names operations: an id that both surfaces have is the user's, and the partner's begins with `partner_`. */
export function namesOf(table: readonly Operation[]): (operation: Operation) => string {
  const shared = new Set(table.filter(({ surface }) => surface === 'user').map(({ id }) => id))
  return ({ id, surface }) =>
    (surface === 'partner' && shared.has(id) ? `partner.${id}` : id).replaceAll('.', '_')
}
