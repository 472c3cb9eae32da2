import { collectBatches } from '@gatewright/kernel'
import { countJobs } from '../records/described-jobs.ts'
import type { Chore } from './chores.ts'
import { collectorsOf } from './host-module.ts'
import { modulesOf, type HostServices } from './host-services.ts'
import { jobRounds } from './job-rounds.ts'

const MINUTE_MS = 60_000
/** Pause between two rounds that measure or fold. */
const SOON_MS = 5000
/** Pause between two writes of kept requests. */
const WRITE_REQUESTS_MS = 2000
/** How often `EndedKeys.keep` is called: often in the 7 days before keys are deleted. */
const KEEP_ENDED_KEYS_MS = 12 * 3_600_000
/** Most rows that one statement or one step handles, so that it stays short and does not slow requests down. */
const LIMIT = 1000
/** Accounts that one transaction folds. */
const ACCOUNTS = 200

/**
 * All background tasks of a host: those of its modules, due jobs, measures, folded balances, deleted rows and the rotation of the
 * signing key. A failing task is reported and does not stop the others.
 */
export function hostChores(services: HostServices): readonly Chore[] {
  const { jobs, ledger, report, requestLog } = services
  return [
    ...modulesOf(services).flatMap(({ chores }) => chores?.(services) ?? []),
    ...jobRounds(jobs),
    { name: 'measure jobs', everyMs: SOON_MS, run: () => measureJobs(services) },
    { name: 'measure stores', everyMs: SOON_MS, run: () => measureReadiness(services) },
    { name: 'write requests', everyMs: WRITE_REQUESTS_MS, run: () => requestLog.flush() },
    { name: 'fold balances', everyMs: SOON_MS, run: () => ledger.fold(ACCOUNTS, report) },
    garbageCollection(services),
  ]
}

/** Deletes what has expired or ended, and rotates the signing key. */
function garbageCollection(services: HostServices): Chore {
  const { readiness, clock, endedKeys, issuer, report } = services
  const collectors = collectorsOf(services)
  let keptAt = -Infinity
  return {
    name: 'collect garbage',
    everyMs: MINUTE_MS,
    async run(signal) {
      if (!(await readiness.mayDeleteByTime())) return
      for (const collect of collectors) await collectBatches(collect, LIMIT, signal).catch(report)
      const now = clock.now()
      if (now >= keptAt + KEEP_ENDED_KEYS_MS) {
        await endedKeys.keep(signal)
        keptAt = now
      }
      // A copy that was aborted or failed is not complete, and a key that it left out may be due.
      if (!signal.aborted) await issuer.maintain(signal)
    },
  }
}

/** Reports to the metrics which jobs wait. */
async function measureJobs({ metrics, jobs, clock }: HostServices): Promise<void> {
  metrics.waitingJobs(await countJobs(jobs, clock.now()))
}

/** Checks the readiness of this host, for the metrics, the operator page and the log: also where nobody asks for it. */
async function measureReadiness({ metrics, history, readiness }: HostServices): Promise<void> {
  const { dependencies, stores } = await readiness.check()
  metrics.dependencies(dependencies)
  for (const { name, ok, ms } of stores) {
    metrics.storeCheck(name, ms / 1000, ok)
    history?.storeCheck(name, ms / 1000)
  }
}
