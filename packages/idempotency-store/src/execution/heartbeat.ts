import type { EpochMs } from '@gatewright/kernel'
import type { Coordinator } from './coordinator.ts'
import type { LocalRun } from './local-runs.ts'

/**
 * Extends the lease of a run that has begun, three times per lease while the run is open in this process, at most to `endsAt`. Stops
 * when the run ends, when its lease has ended (a process that was frozen has lost the run), and when it has another fence, because another
 * caller has decided or the run was renewed. A store that fails is asked again at the next beat; the run is lost if it fails until the lease ends.
 */
export async function keepAlive(
  { settings, storage, runs }: Coordinator,
  run: LocalRun,
  endsAt: EpochMs,
): Promise<void> {
  const { clock, timer, leaseMs } = settings
  const { key, fence } = run
  if (fence === undefined) return
  const stop = new AbortController()
  void runs.waitForEnd(run).finally(() => stop.abort())
  for (;;) {
    await timer.sleep(leaseMs / 3, stop.signal)
    if (stop.signal.aborted || run.fence !== fence || run.leaseUntil >= endsAt) return
    const now = clock.now()
    const leaseUntil = Math.min(now + leaseMs, endsAt)
    // The clock was set back, so the lease lasts longer than the next beat.
    if (leaseUntil <= run.leaseUntil) continue
    try {
      if (!(await storage.extend(key, fence, leaseUntil, now))) return
      runs.renew({ storageKey: key, fence }, fence, leaseUntil)
    } catch {
      // Whether the lease was extended is unknown. The next beat asks again.
    }
  }
}
