import { randomUUID } from 'node:crypto'
import { Fault } from '@gatewright/kernel'
import type { TokenTransfer } from '../../../chain/reader.ts'
import { addressGap } from './address-gap.ts'
import { transferAssignment, type AssignmentServices } from './assign-transfers.ts'
import { chainCursors, type ChainCursor } from './chain-cursors.ts'
import { confirmationsOf } from './match-transfer.ts'
import { payinsOnChain, type SubmittedTransaction } from './payins-on-chain.ts'

/** What a watcher works on. */
interface WatcherServices extends AssignmentServices {
  /** How long another host leaves the chain alone after a round, in ms. */
  readonly leaseMs: number
}

/** Blocks in one step of a round at most; less for a node that refuses so many. */
const SPAN = 20_000
/** Blocks that are read again although they are final: a node may know a block before it can search its events. */
const MARGIN = 20
/** SubmittedTransaction transactions that one round looks up at most. */
const LOOK_UPS = 20
/** Look-ups of one round that may fail: each can take as long as the node is waited for. */
const MOST_FAILED = 3
/** A newest block further ahead of this host's clock than this is not believed about the time, in ms (1 hour). */
const FAR_AHEAD_MS = 3_600_000

/**
 * Watches a chain and settles pay-ins without any client's call. Blocks that are not final are read again in every round. A
 * block counts as read only once all of its transfers are applied, and the chain as read up to its newest block, by that block's
 * own time. One host at a time reads a chain; several at once find the same things, and each is applied once.
 */
export function chainWatcher(services: WatcherServices): (signal: AbortSignal) => Promise<void> {
  const { db, clock, reader, receivers, leaseMs, report } = services
  const { chainId } = reader
  const owner = randomUUID()
  const cursors = chainCursors(db)
  const pending = payinsOnChain(db)
  const transfers = transferAssignment(services)
  const ahead = addressGap(db, receivers, report)
  const confirmations = Math.max(...receivers.map(each => each.confirmations))
  let span = SPAN
  let lastLookedUp: SubmittedTransaction | undefined

  /** Blocks from here on are read again in every round. */
  const firstNotFinal = (head: number): number => Math.max(0, head - confirmations - MARGIN + 2)
  const lease = (): Promise<ChainCursor | 'never_read' | undefined> =>
    cursors.lease(chainId, owner, clock.now(), clock.now() + leaseMs)

  async function find(fromBlock: number, toBlock: number): Promise<readonly TokenTransfer[]> {
    const tokens = [...new Set(receivers.map(({ token }) => token))]
    const shared = receivers.map(({ receiver }) => receiver)
    const own = [...(await pending.openAddresses(chainId)), ...(await ahead.addresses())]
    return reader.transfers({ tokens, receivers: [...new Set([...shared, ...own])], fromBlock, toBlock })
  }

  /** Transfers of a range. A range that a node refuses is shorter the next time. */
  async function read(fromBlock: number, toBlock: number): Promise<readonly TokenTransfer[]> {
    try {
      const found = await find(fromBlock, toBlock)
      span = Math.min(SPAN, 2 * span)
      return found
    } catch (error) {
      span = Math.max(1, Math.floor(span / 2))
      throw error
    }
  }

  /** Reads and applies everything from the cursor to the head, step by step. Says what the chain shows. */
  async function readAll(
    { nextBlock }: ChainCursor,
    head: number,
    signal: AbortSignal,
  ): Promise<readonly TokenTransfer[]> {
    const shown: TokenTransfer[] = []
    // The depth of every transfer depends on the head: the node must have that block before anything is settled by it.
    if (nextBlock + span - 1 < head) await find(head, head)
    // What was seen and is lost must be read again from where it was: another transfer may be in its place.
    const seen = (await pending.confirmingTransfers(chainId)).map(each => each.seen.blockNumber)
    const final = Math.min(firstNotFinal(head), ...seen)
    for (let from = nextBlock; from <= head && !signal.aborted; ) {
      const to = Math.min(head, from + span - 1)
      const found = await read(from, to)
      await transfers.apply(found, head, from)
      // The addresses behind one that was skipped were not asked for: the range is read again.
      if (await ahead.skipPaid(found)) continue
      shown.push(...found)
      await cursors.advance(chainId, Math.min(to + 1, final))
      from = to + 1
      if (from <= head) await lease()
    }
    return shown
  }

  /** Transactions that clients named, a few a round in turn: a node that lagged behind may have hidden their events. */
  async function lookUpSubmitted(head: number, signal: AbortSignal): Promise<void> {
    const found = await pending.nextSubmitted(chainId, lastLookedUp, LOOK_UPS)
    let failed = 0
    for (const each of found) {
      if (signal.aborted || failed === MOST_FAILED) return
      // Before it is asked for: the one after it has its turn also when this one fails for ever.
      lastLookedUp = each
      try {
        const made = (await reader.ofTransaction(each.txHash)) ?? []
        if (made.some(transfer => confirmationsOf(transfer, head) > 0)) {
          await transfers.applyTo(each.id, made, head)
        }
      } catch (error) {
        failed += 1
        report(error)
      }
    }
    if (found.length < LOOK_UPS) lastLookedUp = undefined
  }

  /** A round of the host that has the lease. Says whether it should keep it: it has read further than anybody before. */
  async function round(cursor: ChainCursor | 'never_read', signal: AbortSignal): Promise<boolean> {
    const { number: head, minedAt } = await reader.head()
    if (cursor === 'never_read') {
      // Nobody could ask for a pay-in on this chain before it was read once. The reading proves that the node has this block.
      await find(head, head)
      await cursors.start(chainId, head, firstNotFinal(head))
      return true
    }
    if (head < cursor.headBlock) {
      // What was seen would look gone.
      const message = `chain ${chainId}: the node is at block ${head}, and ${cursor.headBlock} was read before`
      throw new Fault('ERR_RPC_UNAVAILABLE', message)
    }
    const shown = await readAll(cursor, head, signal)
    if (signal.aborted) return false
    // A look-up that fails for ever, of a hash that somebody made up, must not keep the chain from being read.
    await transfers.recheckMissing(shown, head, signal).catch(report)
    await lookUpSubmitted(head, signal).catch(report)
    const now = clock.now()
    // A block from the future tells nothing about the time up to which the chain was read.
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
      // Another host may have a better node, or one that goes on.
      if (!keep) await cursors.release(chainId, owner).catch(report)
    }
  }
}
