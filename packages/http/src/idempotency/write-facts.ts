import type { AccessLike, WriteFacts } from '../ports.ts'
import type { GuardedCall } from '../handler-types.ts'

/**
 * Returns the facts that identify the write of a call. They include the resource, so that the same key for another resource is
 * another payload.
 */
export function writeFacts(
  operation: string,
  account: string,
  { access, facts, body }: GuardedCall<AccessLike>,
  comparesQuery: boolean,
): WriteFacts {
  const key = facts.header('idempotency-key')
  const { method, path, search } = facts
  // The canonical path: an old path is the same write. Not the path parameters, since not every mount sees them.
  const target = JSON.stringify([path, comparesQuery ? parametersOf(search) : []])
  return { account, accountLabel: access.session.accountId, operation, key, method, target, body }
}

/**
 * Returns the parameters of a query as received, ordered by their decoded names. Parameters of one name keep their order,
 * because a handler may depend on it. Values are not decoded: all invalid percent-encodings would decode to the same character.
 */
function parametersOf(search: string): readonly string[] {
  // `URLSearchParams` has one entry for each non-empty text between `&`.
  const names = [...new URLSearchParams(search).keys()]
  const parameters = search
    .slice(1)
    .split('&')
    .filter(text => text !== '')
    .map((text, index) => ({ name: names[index] ?? '', text }))
  const byName = ({ name: one }: { name: string }, { name: other }: { name: string }): number =>
    one < other ? -1 : Number(one > other)
  return parameters.toSorted(byName).map(({ text }) => text)
}
