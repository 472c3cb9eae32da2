import { randomUUID } from 'node:crypto'
import { Fault, type Clock } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import type { ChainReader, TokenTransfer } from '../../chain/reader.ts'
import type { PayinReceiver } from '../../chain/receivers.ts'
import { confirmationsOf } from './binding.ts'
import type { SightingServices } from './sightings.ts'
import { payinTransfers } from './transfers.ts'
import { chainCursors, payinsOnChain, type ChainCursor, type Named } from './watch-store.ts'

/** What a watcher works on. */
export interface WatcherServices extends SightingServices {
  readonly db: SqlClient
  readonly clock: Clock
  readonly reader: ChainReader
  /** The configured receivers of the reader's chain; at least one. */
  readonly receivers: readonly PayinReceiver[]
  /** How long another host leaves the chain alone after a round, in ms. */
  readonly leaseMs: number
  /** Takes what went wrong beside the round's own success. */
  readonly report: (error: unknown) => void
}

/**
 * One round: reads what is new on the chain and applies it. Rejects when something could not be read or applied; what was
 * applied stays, and the rest comes again.
 */
export type WatchRound = (signal: AbortSignal) => Promise<void>

/** Blocks in one step of a round at most; less for a node that refuses so many. */
const SPAN = 20_000
/** Blocks that are read again although they are final: a node may know a block before it can search its events. */
const MARGIN = 20
/** Named transactions that one round looks up at most. */
const LOOK_UPS = 20

/**
 * Watches a chain and settles pay-ins without any client's call. Blocks that are not final are read again in every round. A
 * block counts as read only once all of its transfers are applied, and the chain as read up to its newest block, by that block's
 * own time. One host at a time reads a chain; several at once find the same things, and each is applied once.
 */
export function chainWatcher(services: WatcherServices): WatchRound {
  const { db, clock, reader, receivers, leaseMs, report } = services
  const { chainId } = reader
  const owner = randomUUID()
  const cursors = chainCursors(db)
  const pending = payinsOnChain(db)
  const transfers = payinTransfers(services)
  const confirmations = Math.max(...receivers.map(each => each.confirmations))
  let span = SPAN
  let lastLookedUp: Named | undefined

  const lease = (): Promise<ChainCursor | 'fresh' | undefined> =>
    cursors.lease(chainId, owner, clock.now(), clock.now() + leaseMs)

  /** Transfers of a range. A range that a node refuses is shorter the next time. */
  async function read(fromBlock: number, toBlock: number): Promise<readonly TokenTransfer[]> {
    const tokens = [...new Set(receivers.map(({ token }) => token))]
    const shared = receivers.map(({ receiver }) => receiver)
    const own = await pending.ownAddresses(chainId)
    const query = { tokens, receivers: [...new Set([...shared, ...own])], fromBlock, toBlock }
    try {
      const found = await reader.transfers(query)
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
    for (let from = nextBlock; from <= head && !signal.aborted; ) {
      const to = Math.min(head, from + span - 1)
      const found = await read(from, to)
      await transfers.apply(found, head, from)
      shown.push(...found)
      await cursors.advance(chainId, Math.min(to + 1, head - confirmations - MARGIN + 2))
      from = to + 1
      if (from <= head) await lease()
    }
    return shown
  }

  /** Transactions that clients named, a few a round in turn: a node that lagged behind may have hidden their events. */
  async function lookUpNamed(head: number, signal: AbortSignal): Promise<void> {
    const found = await pending.named(chainId, lastLookedUp, LOOK_UPS)
    for (const each of found) {
      if (signal.aborted) return
      // Before it is asked for: the one after it has its turn also when this one fails for ever.
      lastLookedUp = each
      const made = (await reader.ofTransaction(each.txHash)) ?? []
      if (made.some(transfer => confirmationsOf(transfer, head) > 0))
        await transfers.applyTo(each.id, made, head)
    }
    if (found.length < LOOK_UPS) lastLookedUp = undefined
  }

  return async signal => {
    const cursor = await lease()
    if (cursor === undefined) return
    const { number: head, minedAt } = await reader.head()
    if (cursor === 'fresh') {
      // Nobody could ask for a pay-in on this chain before it was read once. The reading proves that the node has this block.
      await read(head, head)
      return cursors.begin(chainId, head)
    }
    if (head < cursor.headBlock) {
      // What was seen would look gone. Another host may have a better node.
      await cursors.release(chainId, owner)
      const message = `chain ${chainId}: the node is at block ${head}, and ${cursor.headBlock} was read before`
      throw new Fault('ERR_RPC_UNAVAILABLE', message)
    }
    const shown = await readAll(cursor, head, signal)
    if (signal.aborted) return
    // A look-up that fails for ever, of a hash that somebody made up, must not keep the chain from being read.
    await transfers.lookForLost(shown, head, signal).catch(report)
    await lookUpNamed(head, signal).catch(report)
    await cursors.scanned(chainId, head, Math.min(minedAt, clock.now()))
  }
}
