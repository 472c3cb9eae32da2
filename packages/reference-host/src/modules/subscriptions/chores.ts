import type { HostServices, Chore } from '@gatewright/host'
import { type LogReader, logReader } from '../../chain/log-reader.ts'
import type { ChainReader } from '../../chain/reader.ts'
import type { Config } from '../../config/config.ts'
import type { ProductMetrics } from '../../product/metrics.ts'
import type { UserStore } from '../users/store.ts'
import { addressSupply } from './onchain/address-supply.ts'
import { searchProgress } from './onchain/search-progress.ts'
import { receivingXpubs } from './onchain/skip-addresses.ts'
import { unmatchedTransferStore } from './onchain/unmatched-transfer-store.ts'
import { unmatchedTransferSearch } from './onchain/unmatched-transfers.ts'
import { chainWatcher } from './onchain/watcher.ts'
import { payinExpiry } from './payins/expiry.ts'
import type { PayinSettlement } from './payins/settlement.ts'

/** What the background tasks of pay-ins work with. */
export interface SubscriptionChoreServices
  extends Pick<HostServices, 'readiness' | 'db' | 'clock' | 'report'> {
  readonly config: Config
  readonly readers: ReadonlyMap<number, ChainReader>
  readonly settlement: PayinSettlement
  readonly users: UserStore
  readonly productMetrics: ProductMetrics
}

const MINUTE_MS = 60_000
/** Pause between two rounds that expire pay-ins. */
const SOON_MS = 5000
/** Most pay-ins that one step expires, so that it stays short and does not slow requests down. */
const LIMIT = 1000

/** Reads chains, records transfers that match no pay-in, measures the supply of deposit addresses and expires pay-ins. */
export function subscriptionChores(services: SubscriptionChoreServices): readonly Chore[] {
  const { readiness, db, clock, settlement, report, config, productMetrics, readers } = services
  const expire = payinExpiry({ db, clock, settlement })
  const measure = addressSupply(db, config.payinReceivers, productMetrics, report)
  const progress = searchProgress(db, [...readers.keys()], productMetrics, report)
  return [
    ...[...readers.values()].flatMap(reader => {
      const logs = logReader(reader)
      return [watchChore(services, reader, logs), unmatchedSearch(services, reader.chainId, logs)]
    }),
    ...(readers.size === 0
      ? []
      : [{ name: 'measure searches of chains', everyMs: MINUTE_MS, run: () => progress(clock.now()) }]),
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
        if (!(await readiness.mayDeleteByTime())) return
        while (!signal.aborted && (await expire(LIMIT, report)) === LIMIT);
      },
    },
  ]
}

/** Reads one chain for payments. */
function watchChore(
  { config, db, clock, settlement, report }: SubscriptionChoreServices,
  reader: ChainReader,
  logs: LogReader,
): Chore {
  const { payinReceivers, chainPollSeconds } = config
  const everyMs = chainPollSeconds * 1000
  return {
    name: `watch chain ${reader.chainId}`,
    atStart: true,
    everyMs,
    run: chainWatcher({
      db,
      clock,
      settlement,
      receivers: payinReceivers.filter(({ chainId }) => chainId === reader.chainId),
      xpubs: receivingXpubs(payinReceivers),
      reader,
      logs,
      report,
      // Long enough that the reading host keeps the lease, short enough that another host soon takes over.
      leaseMs: 3 * everyMs,
    }),
  }
}

/** Records transfers on one chain that match no pay-in. */
function unmatchedSearch(
  { config, db, clock, users, productMetrics }: SubscriptionChoreServices,
  chainId: number,
  logs: LogReader,
): Chore {
  return {
    name: `record unmatched transfers of chain ${chainId}`,
    everyMs: MINUTE_MS,
    run: unmatchedTransferSearch({
      store: unmatchedTransferStore(db),
      clock,
      chainId,
      logs,
      receivers: config.payinReceivers.filter(each => each.chainId === chainId),
      accountOf: address => users.accountOfWallet(chainId, address),
      count: reason => productMetrics.unmatched(chainId, reason),
    }),
  }
}
