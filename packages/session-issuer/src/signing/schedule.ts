import type { EpochMs } from '@gatewright/kernel'
import type { SigningKey } from '../storage/signing-port.ts'

/** The state of a signing key. */
export type SigningKeyState = 'announced' | 'active' | 'retired' | 'dropped'

/** The durations that determine the states of a signing key, in ms. */
export interface RotationTiming {
  /** How long a key is published before it signs: the hosts' refresh, the published max-age and clock skew. */
  readonly announceMs: number
  /** How long a key stays published after it has signed last: the longest session, the hosts' refresh and twice the clock skew. */
  readonly retireMs: number
  /** The largest difference between the hosts' clocks. */
  readonly skewMs: number
}

/** Computes the durations. A host trusts its key set for `refreshMs`, and verifiers trust the JWKS document for `maxAgeSeconds`. */
export function rotationTiming(spans: {
  refreshMs: number
  maxAgeSeconds: number
  skewMs: number
  maxTtlSeconds: number
}): RotationTiming {
  const { refreshMs, maxAgeSeconds, skewMs, maxTtlSeconds } = spans
  return {
    announceMs: refreshMs + maxAgeSeconds * 1000 + skewMs,
    // The last token may be signed by a host whose clock is slow, and verified by one whose clock is fast and whose key
    // set is not refreshed yet.
    retireMs: maxTtlSeconds * 1000 + refreshMs + 2 * skewMs,
    skewMs,
  }
}

/**
 * Returns the state of a key at an instant. It signs from `activatesAt` until just before `retiresAt`, and is published until
 * just before `dropsAt`.
 */
export function stateOf(
  key: Pick<SigningKey, 'activatesAt' | 'retiresAt' | 'dropsAt'>,
  now: EpochMs,
): SigningKeyState {
  if (now >= (key.dropsAt ?? Infinity)) return 'dropped'
  if (now >= (key.retiresAt ?? Infinity)) return 'retired'
  return now >= key.activatesAt ? 'active' : 'announced'
}

/** Returns the keys that a verifier must know at an instant: all but the dropped ones. */
export function publishedKeys(keys: readonly SigningKey[], now: EpochMs): SigningKey[] {
  return keys.filter(key => stateOf(key, now) !== 'dropped')
}

/**
 * Returns the key that signs at an instant: the active key that became active last. A host whose clock is slow may find no
 * active key; then the next one to become active signs, because generating another would be worse.
 */
export function signingKeyAt(keys: readonly SigningKey[], now: EpochMs): SigningKey | undefined {
  let best: SigningKey | undefined
  for (const key of keys) {
    if (now >= (key.retiresAt ?? Infinity)) continue
    if (!best || isPreferred(key, best, now)) best = key
  }
  return best
}

function isPreferred(key: SigningKey, to: SigningKey, now: EpochMs): boolean {
  const [active, other] = [now >= key.activatesAt, now >= to.activatesAt]
  if (active !== other) return active
  return active ? key.activatesAt > to.activatesAt : key.activatesAt < to.activatesAt
}

/** A key that no store has yet. */
type FreshKey = Pick<SigningKey, 'kid' | 'algorithm' | 'privateJwk'>

/**
 * Announces a successor. It becomes active after `announceMs`, and the key before it retires at that instant. The first
 * key of an empty store is active immediately: nobody has cached a document without it.
 */
export function announce(
  keys: readonly SigningKey[],
  fresh: FreshKey,
  now: EpochMs,
  timing: RotationTiming,
): SigningKey[] {
  const kept = publishedKeys(keys, now)
  const current = signingKeyAt(kept, now)
  const activatesAt = current ? now + timing.announceMs : now - timing.skewMs
  const added: SigningKey = { ...fresh, activatesAt, retiresAt: null, dropsAt: null }
  const retired = kept.map(key =>
    key.retiresAt === null ? { ...key, retiresAt: activatesAt, dropsAt: activatesAt + timing.retireMs } : key,
  )
  return [added, ...retired]
}

/**
 * Drops a leaked key immediately: its tokens fail as soon as verifiers fetch the JWKS document again. If it was the signing
 * key, the announced key becomes active now; without one `fresh` does, which verifiers then have to fetch. If it was only
 * announced, the current key continues to sign.
 */
export function dropNow(
  keys: readonly SigningKey[],
  { kid, fresh }: { readonly kid: string; readonly fresh: FreshKey },
  now: EpochMs,
  timing: RotationTiming,
): SigningKey[] {
  const rest = publishedKeys(keys, now).filter(key => key.kid !== kid)
  const activatesAt = now - timing.skewMs
  const next = signingKeyAt(rest, now)
  if (!next) return [{ ...fresh, activatesAt, retiresAt: null, dropsAt: null }, ...rest]
  const hasSuccessor = rest.some(key => key.retiresAt === null)
  return rest.map(key => {
    if (key !== next) return key
    const since = Math.min(key.activatesAt, activatesAt)
    return hasSuccessor ? { ...key, activatesAt: since } : { ...key, retiresAt: null, dropsAt: null }
  })
}
