import type { ChainReader } from '../chain/reader.ts'
import { addressSupply } from '../modules/subscriptions/onchain/address-supply.ts'
import { auditStore } from '../modules/subscriptions/onchain/audit-store.ts'
import { chainAudit } from '../modules/subscriptions/onchain/audit.ts'
import { chainWatcher } from '../modules/subscriptions/onchain/watcher.ts'
import { payinExpiry } from '../modules/subscriptions/payins/expiry.ts'
import type { Chore } from './chores.ts'
import type { Container } from './container.ts'
import * as token from './registrations.ts'

const MINUTE_MS = 60_000
/** How long after a round the next one ends pay-ins and folds balances. */
const SOON_MS = 5000
/** How long it is remembered that a client used an old name: 400 days, so that yearly jobs are seen. */
const ALIAS_USAGE_MS = 400 * 86_400_000
/** Rows of each kind that one round takes at most, so that a round is short and steals no time from requests. */
const LIMIT = 1000
/** Accounts that one transaction folds. */
const ACCOUNTS = 200

/**
 * What a host does beside requests: reads and audits chains, measures deposit addresses, ends pay-ins that are due, keeps balances short to read, deletes what ended, and rotates
 * the signing key when it is due. A failure is reported, and what comes behind it is done all the same.
 */
export function maintenance(container: Container, report: (error: unknown) => void): readonly Chore[] {
  const { nonces, sql, dialect, idempotency, spend, aliasUsage, checks } = container.get(token.BACKEND)
  const clock = container.get(token.CLOCK)
  const issuer = container.get(token.ISSUER)
  const ledger = container.get(token.LEDGER)
  const expire = payinExpiry({
    ...{ db: sql, dialect, clock },
    payins: container.get(token.PAYINS),
    settlement: container.get(token.SETTLEMENT),
  })
  const readers = [...container.get(token.READERS).values()]
  const watchers = readers.map(reader => watcher(container, reader, report))
  const audits = readers.map(reader => audit(container, reader))
  const measure = addressSupply(
    ...([sql, container.get(token.CONFIG).payinReceivers, container.get(token.METRICS), report] as const),
  )
  const collect = [
    () => nonces.collect(LIMIT, clock.now()),
    () => idempotency(sql).collect(LIMIT, clock.now()),
    () => spend(sql).collect(LIMIT, clock.now()),
    () => aliasUsage.collect(clock.now() - ALIAS_USAGE_MS, LIMIT),
    () => issuer.maintain(),
  ]
  return [
    ...watchers,
    ...audits,
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
        // By a clock that is off nothing is ended.
        await checks['database']?.()
        while (!signal.aborted && (await expire(LIMIT, report)) === LIMIT);
      },
    },
    { name: 'fold balances', everyMs: SOON_MS, run: () => ledger.fold(ACCOUNTS, report) },
    {
      name: 'collect garbage',
      everyMs: MINUTE_MS,
      async run() {
        for (const task of collect) await task().catch(report)
      },
    },
  ]
}

/** Reads one chain. */
function watcher(container: Container, reader: ChainReader, report: (error: unknown) => void): Chore {
  const { payinReceivers, chainPollSeconds } = container.get(token.CONFIG)
  const everyMs = chainPollSeconds * 1000
  return {
    name: `watch chain ${reader.chainId}`,
    atStart: true,
    everyMs,
    run: chainWatcher({
      db: container.get(token.BACKEND).sql,
      clock: container.get(token.CLOCK),
      payins: container.get(token.PAYINS),
      settlement: container.get(token.SETTLEMENT),
      receivers: payinReceivers.filter(({ chainId }) => chainId === reader.chainId),
      ...{ reader, report },
      // Long enough that the host which reads goes on reading, short enough that another soon takes over.
      leaseMs: 3 * everyMs,
    }),
  }
}

/** Looks for payments on one chain that pay nobody. */
function audit(container: Container, reader: ChainReader): Chore {
  const { chainId } = reader
  const users = container.get(token.USERS)
  const metrics = container.get(token.METRICS)
  return {
    name: `audit chain ${chainId}`,
    everyMs: MINUTE_MS,
    run: chainAudit({
      store: auditStore(container.get(token.BACKEND).sql),
      clock: container.get(token.CLOCK),
      reader,
      receivers: container.get(token.CONFIG).payinReceivers.filter(each => each.chainId === chainId),
      accountOf: address => users.accountOfWallet(chainId, address),
      count: reason => metrics.unmatched(chainId, reason),
    }),
  }
}
