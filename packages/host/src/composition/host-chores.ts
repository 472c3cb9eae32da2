import { describedJobs } from '../records/described-jobs.ts'
import type { Chore } from './chores.ts'
import { collectorsOf, type Collector } from './host-module.ts'
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
/** How many lost runs are counted at most: an operator has to look at the first one. */
const MOST_LOST_RUNS = 100
/** Accounts that one transaction folds. */
const ACCOUNTS = 200

/**
 * All background tasks of a host: those of its modules, due jobs, measures, folded balances, deleted rows and the life of
 * keys. A failing task is reported and does not stop the others.
 */
export function hostChores(services: HostServices): readonly Chore[] {
  const { jobs, requestLog } = services
  return [
    ...modulesOf(services).flatMap(({ chores }) => chores?.(services) ?? []),
    ...jobRounds(jobs),
    { name: 'measure jobs', everyMs: SOON_MS, run: () => measureJobs(services) },
    { name: 'measure stores', everyMs: SOON_MS, run: () => measureReadiness(services) },
    { name: 'write requests', everyMs: WRITE_REQUESTS_MS, run: () => requestLog.flush() },
    { name: 'measure lost runs', everyMs: MINUTE_MS, atStart: true, run: () => measureLostRuns(services) },
    foldedBalances(services),
    garbageCollection(services),
    keyMaintenance(services),
  ]
}

/** Adds moves to the stored balances of their accounts. */
function foldedBalances(services: HostServices): Chore {
  const name = 'fold balances'
  const failed = choreFailures(services)
  return { name, everyMs: SOON_MS, run: () => services.ledger.fold(ACCOUNTS, error => failed(name, error)) }
}

/** Counts and reports a failed chore, or a step of one that its other steps do not need. */
export const choreFailures =
  ({ metrics, report }: Pick<HostServices, 'metrics' | 'report'>) =>
  (chore: string, error: unknown): void => {
    metrics.choreFailed(chore)
    report(error)
  }

/**
 * Deletes what has expired or ended, in batches: one of each collector in turn, until none has a full batch left. So a round deletes as fast
 * as the database can, and no collector waits for the backlog of another.
 */
function garbageCollection(services: HostServices): Chore {
  const name = 'collect garbage'
  const failed = choreFailures(services)
  const collectors = collectorsOf(services)
  const collectBatch = async (collect: Collector): Promise<boolean> => {
    try {
      return (await collect(LIMIT)) >= LIMIT
    } catch (error) {
      failed(name, error)
      return false
    }
  }
  return {
    name,
    everyMs: MINUTE_MS,
    async run(signal) {
      let left = collectors
      while (left.length > 0 && !signal.aborted && (await services.readiness.mayDeleteByTime())) {
        const full: Collector[] = []
        for (const collect of left) {
          if (signal.aborted) return
          if (await collectBatch(collect)) full.push(collect)
          await new Promise(resolve => setTimeout(resolve))
        }
        left = full
      }
    },
  }
}

/** Deletes keys, sessions and audit rows that have ended, and rotates the signing key. */
function keyMaintenance({ readiness, clock, endedKeys, issuer }: HostServices): Chore {
  let keptAt = -Infinity
  return {
    name: 'maintain keys',
    everyMs: MINUTE_MS,
    async run(signal) {
      if (!(await readiness.mayDeleteByTime())) return
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
  metrics.waitingJobs(await describedJobs.count(jobs, clock.now()))
}

/** Reports to the metrics how many writes have an unknown outcome. */
async function measureLostRuns({ metrics, lostRuns }: HostServices): Promise<void> {
  const { runs } = await lostRuns.list({ limit: MOST_LOST_RUNS })
  metrics.lostRuns(runs.length)
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
