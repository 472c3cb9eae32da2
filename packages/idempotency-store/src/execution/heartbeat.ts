import type { EpochMs } from '@gatewright/kernel/internal'
import type { Coordinator } from './coordinator.ts'
import type { LocalRun } from './local-runs.ts'

/**
 * Extends the lease of a run three times per lease while the run is open in this process, at most to `endsAt`. Stops when the run
 * ends, when its lease has ended (a process that was frozen has lost the run), or when another caller has decided. A store that fails is
 * asked again at the next beat; the run is lost if it fails until the lease ends.
 */
export async function keepAlive(
  { settings, storage, runs }: Coordinator,
  run: LocalRun,
  endsAt: EpochMs,
): Promise<void> {
  const { clock, timer, leaseMs } = settings
  const stop = new AbortController()
  void runs.waitForEnd(run).finally(() => stop.abort())
  for (;;) {
    await timer.sleep(leaseMs / 3, stop.signal)
    const { key, fence } = run
    if (stop.signal.aborted || fence === undefined) return
    const now = clock.now()
    const leaseUntil = Math.min(now + leaseMs, endsAt)
    if (leaseUntil <= run.leaseUntil) return
    try {
      if (!(await storage.extend(key, fence, leaseUntil, now))) return
      runs.renew({ storageKey: key, fence }, fence, leaseUntil)
    } catch {
      // Whether the lease was extended is unknown. The next beat asks again.
    }
  }
}
