import type { AccessLike, WriteFacts } from '../ports.ts'
import type { RequestFacts } from '../request/facts.ts'
import type { GuardedCall } from '../route/handler-types.ts'

/** What identifies the write of a call: the same key for another resource is another payload. */
export function writeFacts(
  operation: string,
  account: string,
  { facts, input, body }: GuardedCall<AccessLike>,
): WriteFacts {
  const key = facts.header('idempotency-key')
  return {
    account,
    operation,
    key,
    method: facts.method,
    target: targetOf(facts, input.query !== undefined),
    body,
  }
}

/**
 * The canonical path: an old path is the same write. Not the path parameters, since not every mount sees them. A query that the route
 * does not declare is left out: nobody reads it, and it may differ between retries.
 */
function targetOf({ path, query }: RequestFacts, isQueryDeclared: boolean): string {
  const byName = ([one]: readonly [string, string], [other]: readonly [string, string]): number =>
    one < other ? -1 : Number(one > other)
  return JSON.stringify([path, isQueryDeclared ? [...query].toSorted(byName) : []])
}
