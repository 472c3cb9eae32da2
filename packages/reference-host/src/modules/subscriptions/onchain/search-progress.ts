import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import { OperatorWarning } from '@gatewright/host/internal'
import type { ProductMetrics } from '../../../product/metrics.ts'

/** After what time without progress a search counts as stopped, in ms (30 minutes), and how often the warning is repeated. */
const STOPPED_AFTER_MS = 1_800_000

/** Where a search was when it last moved. */
interface Progress {
  readonly nextBlock: number
  readonly movedAt: EpochMs
  readonly warnedAt: EpochMs
}

/**
 * Measures how far each chain was read for payments, and how many final blocks the search for unmatched transfers has yet to read. Warns
 * if a search has blocks to read and has not moved for half an hour, and again after each further half hour.
 */
export function searchProgress(
  db: SqlClient,
  chainIds: readonly number[],
  metrics: Pick<ProductMetrics, 'chainReadAge' | 'unsearchedBlocks'>,
  report: (error: unknown) => void,
): (now: EpochMs) => Promise<void> {
  const searches = new Map<string, Progress>()

  function warnIfStopped(search: string, nextBlock: number, blocks: number, now: EpochMs): void {
    const last = searches.get(search)
    if (!last || last.nextBlock !== nextBlock || blocks === 0) {
      searches.set(search, { nextBlock, movedAt: now, warnedAt: now })
    } else if (now - last.warnedAt >= STOPPED_AFTER_MS) {
      searches.set(search, { ...last, warnedAt: now })
      const minutes = Math.floor((now - last.movedAt) / 60_000)
      const message = `${search} has not moved for ${minutes} minutes and has ${blocks} blocks to read: look for its failures in the log, and at the node's limits`
      report(new OperatorWarning(message))
    }
  }

  return async now => {
    const text = `select c.chain_id, c.scanned_at, c.next_block as final_block, a.next_block
      from gw_chain_cursors c join gw_chain_audits a on a.chain_id = c.chain_id where c.next_block >= 0`
    for (const row of await rows(db, text)) {
      const chainId = toInteger(row['chain_id'])
      if (!chainIds.includes(chainId)) continue
      const readAt = toInteger(row['scanned_at'])
      if (readAt > 0) metrics.chainReadAge(chainId, Math.max(0, now - readAt))
      const nextBlock = toInteger(row['next_block'])
      const blocks = Math.max(0, toInteger(row['final_block']) - nextBlock)
      metrics.unsearchedBlocks(chainId, blocks)
      warnIfStopped(`the search for unmatched payments of chain ${chainId}`, nextBlock, blocks, now)
    }
  }
}
