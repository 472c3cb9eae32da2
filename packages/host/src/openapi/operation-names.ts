import type { Operation } from '../http/operations/operation.ts'

/** An operation with its name in the description: that of its `operationId` and its components. */
export type NamedOperation = Operation & { readonly name: string }

/**
 * Returns the function that names operations. If both surfaces have an id, the name of the partner's operation begins with
 * `partner_`.
 */
export function namesOf(table: readonly Operation[]): (operation: Operation) => string {
  const shared = new Set(table.filter(({ surface }) => surface === 'user').map(({ id }) => id))
  return ({ id, surface }) =>
    (surface === 'partner' && shared.has(id) ? `partner.${id}` : id).replaceAll('.', '_')
}
