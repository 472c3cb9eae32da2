import { randomUUID } from 'node:crypto'
import { Fault } from '@gatewright/kernel'
import type { LogReader } from '../../../chain/log-reader.ts'
import type { TokenTransfer } from '../../../chain/reader.ts'
import { addressGap } from './address-gap.ts'
import { transferAssignment, type AssignmentServices } from './assign-transfers.ts'
import { chainCursorStore, type ChainCursor } from './chain-cursors.ts'
import { payinsOnChain } from './payins-on-chain.ts'
import { rangeReader } from './range-reader.ts'
import type { ReceivingXpub } from './skip-addresses.ts'
import { submittedLookups } from './submitted-lookups.ts'

/** The services of a chain's watcher. */
interface WatcherServices extends AssignmentServices {
  /** All configured xpubs, those of other chains too. */
  readonly xpubs: readonly ReceivingXpub[]
  /** Reads the chain's logs, shared with the search for unmatched transfers. */
  readonly logs: LogReader
  /** How long a lease keeps other hosts from reading the chain, in ms. */
  readonly leaseMs: number
}

/** How many final blocks are read again: a node may know a block before it can search its events. */
const MARGIN = 20
/** If the newest block is further ahead of this host's clock, its time is ignored, in ms (1 hour). */
const FAR_AHEAD_MS = 3_600_000

/**
 * Creates the watcher of a chain, which settles pay-ins without any client's call. The returned function runs one round: it
 * reads new blocks and applies their transfers. It rejects when something could not be read or applied; what was applied stays,
 * and the next round repeats the rest.
 *
 * Blocks that are not final are read again in every round. A block counts as read only once all of its transfers are applied,
 * and the chain as read up to its newest block, by that block's own time. One host at a time reads a chain. If several do
 * nevertheless, they find the same transfers, and each is applied once.
 */
export function chainWatcher(services: WatcherServices): (signal: AbortSignal) => Promise<void> {
  const { db, clock, reader, receivers, xpubs, logs, leaseMs, report } = services
  const { chainId } = reader
  const owner = randomUUID()
  const cursors = chainCursorStore(db)
  const pending = payinsOnChain(db)
  const transfers = transferAssignment(services)
  const onThisChain = xpubs.filter(({ tokens }) => tokens.has(chainId))
  const ahead = addressGap(db, onThisChain, report)
  const ranges = rangeReader(services, ahead)
  const lookUpSubmitted = submittedLookups(services, transfers)
  const confirmations = Math.max(...receivers.map(each => each.confirmations))

  /** First block that every round reads again. */
  const firstNotFinal = (head: number): number => Math.max(0, head - confirmations - MARGIN + 2)
  const lease = (): Promise<ChainCursor | 'never_read' | undefined> =>
    cursors.lease(chainId, owner, clock.now(), clock.now() + leaseMs)

  /** Reads and applies all blocks from the cursor to the head, step by step, and returns their transfers. */
  async function readAll(
    { nextBlock }: ChainCursor,
    head: number,
    signal: AbortSignal,
  ): Promise<readonly TokenTransfer[]> {
    const shown: TokenTransfer[] = []
    // Confirmations are counted from the head, so the node must know that block before anything settles.
    if (nextBlock + logs.span() - 1 < head) await ranges.check(head)
    // Reading starts at the earliest block with a confirming transfer: after a reorganisation, another transfer may have
    // replaced it.
    const seen = (await pending.confirmingTransfers(chainId)).map(each => each.seen.blockNumber)
    const final = Math.min(firstNotFinal(head), ...seen)
    for (let from = nextBlock; from <= head && !signal.aborted; ) {
      const { transfers: found, toBlock: to } = await ranges.read(from, head)
      await transfers.apply(found, head, from)
      // The addresses after a skipped one were not read yet, so the range is read again.
      if (await ahead.skipPaid(found)) continue
      shown.push(...found)
      await cursors.advance(chainId, Math.min(to + 1, final))
      from = to + 1
      if (from <= head) await lease()
    }
    return shown
  }

  /**
   * Runs a round on the host that has the lease. Returns whether to keep the lease: true if this round has read further than
   * any before.
   */
  async function round(cursor: ChainCursor | 'never_read', signal: AbortSignal): Promise<boolean> {
    const { number: head, minedAt } = await reader.head()
    if (cursor === 'never_read') {
      // Before the first reading of a chain there are no pay-ins on it. This call checks that the node has the block.
      await ranges.check(head)
      await cursors.start(chainId, head, firstNotFinal(head))
      return true
    }
    if (head < cursor.headBlock) {
      // If it continued, transfers that were seen would seem to be removed.
      const message = `chain ${chainId}: the node is at block ${head}, and ${cursor.headBlock} was read before`
      throw new Fault('ERR_RPC_UNAVAILABLE', message)
    }
    const shown = await readAll(cursor, head, signal)
    if (signal.aborted) return false
    // A look-up that always fails, for example of a made-up hash, must not stop the reading of the chain.
    await transfers.recheckMissing(shown, head, signal).catch(report)
    await lookUpSubmitted(head, signal).catch(report)
    const now = clock.now()
    // If the block's time is in the future, it does not show up to which time the chain was read.
    await cursors.recordHead(chainId, head, minedAt > now + FAR_AHEAD_MS ? 0 : Math.min(minedAt, now))
    return head > cursor.headBlock
  }

  return async signal => {
    const cursor = await lease()
    if (cursor === undefined) return
    let keep = false
    try {
      keep = await round(cursor, signal)
    } finally {
      // Another host may have a better node.
      if (!keep) await cursors.release(chainId, owner).catch(report)
    }
  }
}
