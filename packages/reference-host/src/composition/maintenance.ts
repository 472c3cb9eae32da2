import { collectBatches } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import type { ChainReader } from '../chain/reader.ts'
import { addressSupply } from '../modules/subscriptions/onchain/address-supply.ts'
import { receivingXpubs } from '../modules/subscriptions/onchain/skip-addresses.ts'
import { unmatchedTransferStore } from '../modules/subscriptions/onchain/unmatched-transfer-store.ts'
import { unmatchedTransferSearch } from '../modules/subscriptions/onchain/unmatched-transfers.ts'
import { chainWatcher } from '../modules/subscriptions/onchain/watcher.ts'
import { collectUnpaidPayins } from '../modules/subscriptions/payins/collect.ts'
import { payinExpiry } from '../modules/subscriptions/payins/expiry.ts'
import { collectMessages } from '../modules/system/provider-events.ts'
import { collectRequests } from '../modules/web-sign-in/cli-requests.ts'
import type { Metrics } from '../observability/metrics.ts'
import { countAttention } from '../operator/attention.ts'
import { countJobs } from '../operator/jobs.ts'
import { checkInTime } from '../storage/check-in-time.ts'
import type { Chore } from './chores.ts'
import type { Container } from './container.ts'
import { jobRounds } from './job-rounds.ts'
import * as registrations from './registrations.ts'

const MINUTE_MS = 60_000
/** Pause between two rounds that expire pay-ins or fold balances. */
const SOON_MS = 5000
/** How long the use of a legacy name is kept: 400 days, so that clients that run once a year are counted. */
const ALIAS_USAGE_MS = 400 * 86_400_000
/** How often the policies of ended keys are copied for their cards: often in the 7 days before these keys are deleted. */
const KEEP_POLICIES_MS = 12 * 3_600_000
/** How many rows one statement or step handles at most, so that it is short and does not slow down requests. */
const LIMIT = 1000
/** How many accounts one transaction folds. */
const ACCOUNTS = 200

/**
 * All background tasks of a host: reads chains, records unmatched transfers, measures the supply of deposit
 * addresses, expires pay-ins, folds balances, deletes expired rows and rotates the signing key. A failing task is reported and
 * does not stop the others.
 */
export function maintenance(container: Container, report: (error: unknown) => void): readonly Chore[] {
  const { sql, checks } = container.get(registrations.BACKEND)
  const clock = container.get(registrations.CLOCK)
  const ledger = container.get(registrations.LEDGER)
  const expire = payinExpiry({
    db: sql,
    clock,
    settlement: container.get(registrations.SETTLEMENT),
  })
  const readers = [...container.get(registrations.READERS).values()]
  const watchers = readers.map(reader => watchChore(container, reader, report))
  const searches = readers.map(reader => unmatchedSearch(container, reader))
  const measure = addressSupply(
    ...([
      sql,
      container.get(registrations.CONFIG).payinReceivers,
      container.get(registrations.METRICS),
      report,
    ] as const),
  )
  return [
    ...watchers,
    ...searches,
    {
      name: 'measure deposit addresses',
      everyMs: MINUTE_MS,
      atStart: true,
      run: () => measure(clock.now()),
    },
    {
      name: 'expire pay-ins',
      everyMs: SOON_MS,
      async run(signal) {
        // Expires nothing while the host's clock and the database's disagree.
        await checks['database']?.()
        while (!signal.aborted && (await expire(LIMIT, report)) === LIMIT);
      },
    },
    ...jobRounds(container.get(registrations.JOBS)),
    { name: 'measure jobs', everyMs: SOON_MS, run: () => measureJobs(container) },
    {
      name: 'count rows with attention',
      everyMs: MINUTE_MS,
      atStart: true,
      run: () => measureAttention(sql, container.get(registrations.METRICS)),
    },
    { name: 'measure stores', everyMs: SOON_MS, run: () => measureStores(container) },
    { name: 'fold balances', everyMs: SOON_MS, run: () => ledger.fold(ACCOUNTS, report) },
    garbageCollection(container, report),
  ]
}

/** Deletes what has expired or ended, and rotates the signing key. */
function garbageCollection(container: Container, report: (error: unknown) => void): Chore {
  const { nonces, sql, idempotency, spend, aliasUsage, checks } = container.get(registrations.BACKEND)
  const clock = container.get(registrations.CLOCK)
  const collectors: readonly ((limit: number) => Promise<number>)[] = [
    limit => nonces.collect(limit, clock.now()),
    limit => idempotency(sql).collect(limit, clock.now()),
    limit => spend(sql).collect(limit, clock.now()),
    limit => aliasUsage.collect(limit, clock.now() - ALIAS_USAGE_MS),
    limit => collectMessages(sql, limit, clock.now()),
    limit => collectRequests(sql, limit, clock.now()),
    limit => collectUnpaidPayins(sql, limit, clock.now()),
  ]
  let policiesKeptAt = -Infinity
  return {
    name: 'collect garbage',
    everyMs: MINUTE_MS,
    async run(signal) {
      // A host whose clock is ahead would delete what is still valid for all others, such as nonces and sessions.
      await checks['database']?.()
      for (const collect of collectors) await collectBatches(collect, LIMIT, signal).catch(report)
      const now = clock.now()
      if (now >= policiesKeptAt + KEEP_POLICIES_MS) {
        await container.get(registrations.CARD_KEY_POLICIES).keep(signal, report)
        policiesKeptAt = now
      }
      // After an aborted or failed copy, a key whose policies were not copied may be due for deletion.
      if (!signal.aborted) await container.get(registrations.ISSUER).maintain(signal)
    },
  }
}

/** Updates the metrics of waiting jobs. */
async function measureJobs(container: Container): Promise<void> {
  const now = container.get(registrations.CLOCK).now()
  container.get(registrations.METRICS).waitingJobs(await countJobs(container.get(registrations.JOBS), now))
}

/** Measures the round trip of each store, for the metrics and the operator page. */
async function measureStores(container: Container): Promise<void> {
  const metrics = container.get(registrations.METRICS)
  const history = container.get(registrations.HISTORY)
  const checks = Object.entries(container.get(registrations.BACKEND).checks)
  await Promise.all(
    checks.map(async ([store, check]) => {
      const { ok, ms } = await checkInTime(check)
      metrics.storeCheck(store, ms / 1000, ok)
      history?.storeCheck(store, ms / 1000)
    }),
  )
}

/** Updates the metrics of rows that need the operator's attention. */
async function measureAttention(db: SqlQueries, metrics: Metrics): Promise<void> {
  for (const [kind, count] of Object.entries(await countAttention(db))) metrics.attention(kind, count)
}

/** Reads one chain for payments. */
function watchChore(container: Container, reader: ChainReader, report: (error: unknown) => void): Chore {
  const { payinReceivers, chainPollSeconds } = container.get(registrations.CONFIG)
  const everyMs = chainPollSeconds * 1000
  return {
    name: `watch chain ${reader.chainId}`,
    atStart: true,
    everyMs,
    run: chainWatcher({
      db: container.get(registrations.BACKEND).sql,
      clock: container.get(registrations.CLOCK),
      settlement: container.get(registrations.SETTLEMENT),
      receivers: payinReceivers.filter(({ chainId }) => chainId === reader.chainId),
      xpubs: receivingXpubs(payinReceivers),
      reader,
      report,
      // Long enough that the reading host keeps the lease, and short enough that another host takes over soon after a crash.
      leaseMs: 3 * everyMs,
    }),
  }
}

/** Records transfers on one chain that match no pay-in. */
function unmatchedSearch(container: Container, reader: ChainReader): Chore {
  const { chainId } = reader
  const users = container.get(registrations.USERS)
  const metrics = container.get(registrations.METRICS)
  return {
    name: `record unmatched transfers of chain ${chainId}`,
    everyMs: MINUTE_MS,
    run: unmatchedTransferSearch({
      store: unmatchedTransferStore(container.get(registrations.BACKEND).sql),
      clock: container.get(registrations.CLOCK),
      reader,
      receivers: container.get(registrations.CONFIG).payinReceivers.filter(each => each.chainId === chainId),
      accountOf: address => users.accountOfWallet(chainId, address),
      count: reason => metrics.unmatched(chainId, reason),
    }),
  }
}
