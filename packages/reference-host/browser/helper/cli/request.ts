import { call, type Reply } from '../../shared/api.ts'
import type { RequestedKey } from './requested-key.ts'

/** The request of a command line, as the host returns it. */
export interface CliRequest {
  readonly clientName: string | null
  readonly clientAddress: string
  readonly startedAt: string
  readonly expiresAt: string
  /** Whether it came from the network of this browser. */
  readonly sameNetwork: boolean
  /** What its key may do: everything where it requested nothing. */
  readonly key: RequestedKey
}

/** Reads the request of a command line. */
export function inspectRequest(requestId: string): Promise<Reply<CliRequest>> {
  return call('/auth/cli/inspect', { body: { requestId } })
}

/** Denies a request, for which the code is required. */
export function denyRequest(requestId: string, code: string): Promise<Reply<unknown>> {
  return call('/auth/cli/deny', { body: { requestId, code } })
}
