import type { EpochMs } from '@gatewright/kernel'
import type { ApiKey, KeyRecord } from './storage/port.ts'

/** Returns the instant at which a key ends, or Infinity. */
export function endOf(key: ApiKey): EpochMs {
  return Math.min(key.revokedAt ?? Infinity, key.expiresAt ?? Infinity)
}

/** Whether a key is valid at an instant: until just before its end. */
export function isLive(key: ApiKey, now: EpochMs): boolean {
  return key.revokedAt === null && now < (key.expiresAt ?? Infinity)
}

/** Returns a key without its digest, as callers may see it. */
export function toApiKey({ digest: _digest, pepperId: _pepperId, ...key }: KeyRecord): ApiKey {
  return key
}
