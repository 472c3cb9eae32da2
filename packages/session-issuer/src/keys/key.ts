import type { EpochMs } from '@gatewright/kernel'
import type { ApiKey, KeyRecord } from '../storage/port.ts'

/** The instant a key ends, or Infinity. */
export function endOf(key: ApiKey): EpochMs {
  return Math.min(key.revokedAt ?? Infinity, key.expiresAt ?? Infinity)
}

/** Whether a key is usable at an instant: at its end it is not. */
export function isLive(key: ApiKey, now: EpochMs): boolean {
  return key.revokedAt === null && now < (key.expiresAt ?? Infinity)
}

/** What callers may see of a key. */
export function toApiKey({ digest: _digest, pepperId: _pepperId, ...key }: KeyRecord): ApiKey {
  return key
}
