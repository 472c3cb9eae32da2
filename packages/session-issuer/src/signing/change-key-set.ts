import { Fault, type Clock } from '@gatewright/kernel'
import type { SigningAlgorithm, SigningKey, SigningKeyStorage } from '../storage/signing-port.ts'
import { generateSigningKey } from './generate-key.ts'
import { announce, dropNow, type RotationTiming } from './schedule.ts'

/** Where the set of signing keys is stored, and the algorithm and times of new keys. */
export interface KeySetOptions {
  readonly storage: SigningKeyStorage
  readonly algorithm: SigningAlgorithm
  readonly clock: Clock
  readonly timing: RotationTiming
}

/**
 * How often a change is decided again because another host committed first. Each lost race means that another change was
 * written.
 */
const ATTEMPTS = 20

/**
 * Changes the stored set of signing keys as `decide` says, and decides again when another host committed first. Returns false if
 * `decide` wants no change. Throws the fault `ERR_OVERLOADED` if other hosts commit first every time.
 */
export async function changeKeySet(
  { storage, algorithm, clock, timing }: KeySetOptions,
  decide: (keys: readonly SigningKey[]) => 'announce' | { drop: string } | undefined,
): Promise<boolean> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { revision, keys } = await storage.load()
    const decision = decide(keys)
    if (decision === undefined) return false
    const fresh = await generateSigningKey(algorithm)
    const now = clock.now()
    const next =
      decision === 'announce'
        ? announce(keys, fresh, now, timing)
        : dropNow(keys, { kid: decision.drop, fresh }, now, timing)
    if (await storage.replace(revision, next)) return true
  }
  throw new Fault('ERR_OVERLOADED', 'the signing keys keep changing')
}
