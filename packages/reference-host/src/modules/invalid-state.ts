import type { Surface } from '@gatewright/kernel/internal'
import type { HostDenial } from '@gatewright/host'
import { deny } from '../product/denials.ts'

/**
 * Denies a request that the current state does not allow: 409 `invalid_state` for partners, 400 `invalid_request` with the
 * field for users.
 */
export function invalidState(
  surface: Surface,
  message: string,
  field: string,
  details?: Readonly<Record<string, unknown>>,
): HostDenial {
  const extras = { field, ...(details ? { details } : {}) }
  return surface === 'partner'
    ? deny('invalid_state', message, extras)
    : deny('invalid_request', message, extras)
}
