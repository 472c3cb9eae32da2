import type { HttpResponse } from '../../harness/host.ts'

/** The background tasks of a host that work on what its requests have written. */
export const CHORES = [
  'run jobs',
  'measure',
  'fold balances',
  'expire pay-ins',
  'collect garbage',
  'maintain keys',
] as const

/** Returns a response with status 200. Throws for any other. */
export function done(response: HttpResponse): HttpResponse {
  if (response.status !== 200) throw new Error(`${response.status}: ${JSON.stringify(response.body)}`)
  return response
}
