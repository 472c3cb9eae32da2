import type { EpochMs } from '@gatewright/kernel'
import type { SigningKey } from '../storage/signing-port.ts'

/** Where a signing key stands in its life. */
export type SigningKeyState = 'announced' | 'active' | 'retired' | 'dropped'

/** The spans that the life of a signing key is derived from, in ms. */
export interface Timing {
  /** Published, not yet signing. Covers the hosts' refresh, the published max-age and clock skew. */
  readonly announceMs: number
  /** No longer signing, still published. Covers the longest session, the hosts' refresh and clock skew. */
  readonly retireMs: number
  /** How far apart the hosts' clocks may be. */
  readonly skewMs: number
}

/** Derives the spans. A host trusts its set for `refreshMs`, verifiers the document for `maxAgeSeconds`. */
export function timingOf(spans: {
  refreshMs: number
  maxAgeSeconds: number
  skewMs: number
  maxTtlSeconds: number
}): Timing {
  const { refreshMs, maxAgeSeconds, skewMs, maxTtlSeconds } = spans
  return {
    announceMs: refreshMs + maxAgeSeconds * 1000 + skewMs,
    // The last token is signed by a slow host, and judged by a fast one that has not refreshed yet.
    retireMs: maxTtlSeconds * 1000 + refreshMs + 2 * skewMs,
    skewMs,
  }
}

/**
 * The state of a key at an instant. It signs from `activatesAt` on and no longer at `retiresAt`; at `dropsAt`
 * it is no longer published.
 */
export function stateOf(
  key: Pick<SigningKey, 'activatesAt' | 'retiresAt' | 'dropsAt'>,
  now: EpochMs,
): SigningKeyState {
  if (now >= (key.dropsAt ?? Infinity)) return 'dropped'
  if (now >= (key.retiresAt ?? Infinity)) return 'retired'
  return now >= key.activatesAt ? 'active' : 'announced'
}

/** The keys a verifier must know at an instant: all but the dropped. */
export function publishedKeys(keys: readonly SigningKey[], now: EpochMs): SigningKey[] {
  return keys.filter(key => stateOf(key, now) !== 'dropped')
}

/**
 * The key that signs at an instant: of the active ones the latest to have become so. A host whose clock is behind
 * may see none yet; the next to become active serves, because making another would be worse.
 */
export function signingKeyAt(keys: readonly SigningKey[], now: EpochMs): SigningKey | undefined {
  let best: SigningKey | undefined
  for (const key of keys) {
    if (now >= (key.retiresAt ?? Infinity)) continue
    if (!best || preferred(key, best, now)) best = key
  }
  return best
}

function preferred(key: SigningKey, to: SigningKey, now: EpochMs): boolean {
  const [active, other] = [now >= key.activatesAt, now >= to.activatesAt]
  if (active !== other) return active
  return active ? key.activatesAt > to.activatesAt : key.activatesAt < to.activatesAt
}

/**
 * Announces a successor: it takes over after `announceMs`, at which instant the key before it retires. With no
 * key to succeed, as on first use, it is active at once: nobody has cached a document without it.
 */
export function announce(
  keys: readonly SigningKey[],
  fresh: Pick<SigningKey, 'kid' | 'algorithm' | 'privateJwk'>,
  now: EpochMs,
  timing: Timing,
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
 * Drops a key at once, for a leak: its tokens fail as soon as verifiers read the document again. When it was to
 * sign, the announced key takes over early, else `fresh`, which verifiers then have to fetch. When it was only
 * announced, the key before it goes on.
 */
export function dropNow(
  keys: readonly SigningKey[],
  kid: string,
  fresh: Pick<SigningKey, 'kid' | 'algorithm' | 'privateJwk'>,
  now: EpochMs,
  timing: Timing,
): SigningKey[] {
  const rest = publishedKeys(keys, now).filter(key => key.kid !== kid)
  const activatesAt = now - timing.skewMs
  const next = signingKeyAt(rest, now)
  if (!next) return [{ ...fresh, activatesAt, retiresAt: null, dropsAt: null }, ...rest]
  const lasting = rest.some(key => key.retiresAt === null)
  return rest.map(key => {
    if (key !== next) return key
    const since = Math.min(key.activatesAt, activatesAt)
    return lasting ? { ...key, activatesAt: since } : { ...key, retiresAt: null, dropsAt: null }
  })
}
