import type { EpochMs } from '@gatewright/kernel'
import type { Claim } from './claim.ts'
import type { Coordinator } from './coordinator.ts'
import { keepAlive } from './heartbeat.ts'

/** The leases of the runs of a process. */
interface Leases {
  /** Starts to extend the lease of a run that has begun, if runs may take longer than a lease. They may take `maxRunMs` from then on. */
  keep(claim: Claim): void
  /** When the lease of a claim ends: later than the claim says, if it was extended. */
  endOf(claim: Claim): EpochMs
  /**
   * Gives a run a whole lease, and a larger fence if its lease has ended. Undefined: another run or a recovery has decided about the key;
   * then, and if the store fails, the duplicates in this process ask the store.
   */
  renew(claim: Claim): Promise<Claim | undefined>
}

/** Makes the leases of runs that may take up to `maxRunMs`. */
export function createLeases(coordinator: Coordinator, maxRunMs: number): Leases {
  const { storage, runs, settings } = coordinator
  const { leaseMs, clock } = settings
  const renewInStore = async ({ storageKey, fence, effectId }: Claim): Promise<Claim | undefined> => {
    const startedAt = clock.now()
    const leaseUntil = startedAt + leaseMs
    const renewed = (await storage.extend(storageKey, fence, leaseUntil, startedAt))
      ? fence
      : await storage.takeOver(storageKey, fence, leaseUntil, startedAt)
    if (renewed === undefined) return undefined
    // It is no longer open if another write began after its lease had ended.
    if (!runs.findClaimed({ storageKey, fence }))
      runs.open({ key: storageKey, fingerprint: effectId, leaseUntil, fence, outcome: undefined }, startedAt)
    runs.renew({ storageKey, fence }, renewed, leaseUntil)
    return { storageKey, fence: renewed, effectId, leaseUntil }
  }
  const keep = (claim: Claim): void => {
    const run = maxRunMs > leaseMs ? runs.findClaimed(claim) : undefined
    if (run) void keepAlive(coordinator, run, claim.leaseUntil - leaseMs + maxRunMs)
  }
  return {
    keep,
    endOf: claim => runs.findClaimed(claim)?.leaseUntil ?? claim.leaseUntil,
    async renew(claim) {
      let renewed: Claim | undefined
      try {
        renewed = await renewInStore(claim)
        // Extensions stop when the lease has ended or the fence has changed.
        if (renewed && renewed.fence !== claim.fence) keep(renewed)
        return renewed
      } finally {
        if (!renewed) runs.endClaimed(claim)
      }
    },
  }
}
