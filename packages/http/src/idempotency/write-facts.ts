import type { AccessLike, WriteFacts } from '../ports.ts'
import type { GuardedCall } from '../route/handler-types.ts'

/** What identifies the write of a call: the same key for another resource is another payload. */
export function writeFacts(
  operation: string,
  account: string,
  { facts, params, input, body }: GuardedCall<AccessLike>,
): WriteFacts {
  const key = facts.header('idempotency-key')
  // A query that the route does not declare is not read, and may differ between retries.
  const query = input.query === undefined ? [] : [...facts.query]
  return { account, operation, key, method: facts.method, target: targetOf(params, query), body }
}

/** The parameters, not the path, so that an old path is the same write. */
function targetOf(
  params: Readonly<Record<string, string>>,
  query: readonly (readonly [string, string])[],
): string | undefined {
  const byName = ([one]: readonly [string, string], [other]: readonly [string, string]): number =>
    one < other ? -1 : Number(one > other)
  const target = [Object.entries(params).toSorted(byName), query.toSorted(byName)]
  return target.every(part => part.length === 0) ? undefined : JSON.stringify(target)
}
