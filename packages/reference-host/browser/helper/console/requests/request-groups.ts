import type { KeptRequest } from '../wire.ts'

/** Requests with one line in the list: equal refusals of one day, newest first. */
export interface RequestGroup {
  /** The same for the same refusals, also after more were read. */
  readonly name: string
  readonly requests: readonly [KeptRequest, ...KeptRequest[]]
}

/**
 * Puts equal refusals of one UTC day together, at the place of the newest of them: the same key, operation, rule or error, and member. Every
 * other request is alone. `requests` are newest first.
 */
export function groupRefusals(requests: readonly KeptRequest[]): RequestGroup[] {
  const groups = new Map<string, [KeptRequest, ...KeptRequest[]]>()
  for (const request of requests) {
    const name = nameOf(request)
    const group = groups.get(name)
    if (group) group.push(request)
    else groups.set(name, [request])
  }
  return [...groups].map(([name, members]) => ({ name, requests: members }))
}

function nameOf({ id, status, createdAt, keyId, operation, rule, error, field }: KeptRequest): string {
  if (status < 400) return id
  return JSON.stringify([createdAt.slice(0, 10), keyId, operation, status, rule, error, field])
}
