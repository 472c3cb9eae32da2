import { randomUUID } from 'node:crypto'
import type { Clock } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import type { ChainReader, TokenTransfer } from '../../chain/reader.ts'
import type { PayinReceiver } from '../../chain/receivers.ts'
import type { SeenTransfer } from './payin.ts'
import { applySighting, type SightingServices } from './sightings.ts'
import { isOpen } from './states.ts'
import { chainCursors, payinsOnChain, type Pending } from './watch-store.ts'

/** What a watcher works on. */
export interface WatcherServices extends SightingServices {
  readonly db: SqlClient
  readonly clock: Clock
  readonly reader: ChainReader
  /** The configured receivers of the reader's chain; at least one. */
  readonly receivers: readonly PayinReceiver[]
  /** How long another host leaves the chain alone after a round, in ms. */
  readonly leaseMs: number
}

/** One round: reads what is new on the chain and applies it. Rejects when something could not be applied. */
export type WatchRound = () => Promise<void>

/** Blocks that one round reads at most, so that a long gap is caught up in steps that count; less where a node refuses. */
const SPAN = 20_000
/** Blocks that are read again although they are final: a node may know a block before it can search its events. */
const MARGIN = 20
/** Named transactions that one round looks up at most. */
const LOOK_UPS = 20

/**
 * Watches a chain and settles pay-ins without any client's call. Blocks that are not deep enough are read again in every round,
 * so a reorganisation needs no bookkeeping: what was seen and is not there any more goes back to waiting. A block counts as
 * read only once all of its transfers are applied. One host at a time reads a chain; two at once would do no harm.
 */
export function chainWatcher(services: WatcherServices): WatchRound {
  const { db, clock, reader, receivers, leaseMs } = services
  const { chainId } = reader
  const owner = randomUUID()
  const cursors = chainCursors(db)
  const pending = payinsOnChain(db)
  const confirmations = Math.max(...receivers.map(each => each.confirmations))
  let lookedUp = 0
  let span = SPAN
  let highest = 0

  return async () => {
    const now = clock.now()
    const next = await cursors.lease(chainId, owner, now, now + leaseMs)
    if (next === undefined) return
    const { number: head, minedAt } = await reader.head()
    // Nobody could ask for a pay-in on this chain before it was read once: nothing older can matter.
    if (next === 'fresh') return cursors.advance(chainId, owner, head + 1, 0)
    // A node that fell behind would make what was seen look gone.
    if (head < highest) return
    highest = head
    const toBlock = Math.min(head, next + span - 1)
    const transfers = await transfersIn(next, toBlock)
    const failures: unknown[] = []
    const attempt = async (work: () => Promise<unknown>): Promise<void> => {
      await work().catch((error: unknown) => failures.push(error))
    }
    for (const each of await pending.seen(chainId)) {
      if (!transfers.some(transfer => isSame(each.seen, transfer))) await attempt(() => lookAgain(each, head))
    }
    for (const transfer of transfers) await attempt(() => apply(transfer, head))
    await lookUpSubmitted(head, attempt)
    if (failures.length > 0) throw new AggregateError(failures, `chain ${chainId} was not applied in full`)
    // Not this host's time: a chain that stands still was not read up to now.
    const scannedAt = toBlock === head ? minedAt : undefined
    await cursors.advance(chainId, owner, Math.min(toBlock + 1, head - confirmations - MARGIN + 2), scannedAt)
  }

  async function transfersIn(fromBlock: number, toBlock: number): Promise<readonly TokenTransfer[]> {
    const tokens = [...new Set(receivers.map(({ token }) => token))]
    const shared = receivers.map(({ receiver }) => receiver)
    const query = {
      tokens,
      receivers: [...shared, ...(await pending.ownAddresses(chainId))],
      fromBlock,
      toBlock,
    }
    try {
      const transfers = await reader.transfers(query)
      span = Math.min(SPAN, 2 * span)
      return transfers
    } catch (error) {
      // Some nodes answer no range as long as this, and would refuse it for ever.
      span = Math.max(1, Math.floor(span / 2))
      throw error
    }
  }

  /** Gives a transfer to the first pay-in that it pays. */
  async function apply(transfer: TokenTransfer, head: number): Promise<void> {
    for (const id of await pending.payableBy(transfer)) {
      if (await applyTo(id, [transfer], head)) return
    }
  }

  /** Applies transfers to one pay-in, which is looked at again under its lock. Says whether it has one of them now. */
  async function applyTo(id: string, transfers: readonly TokenTransfer[], head: number): Promise<boolean> {
    return db.transaction(async tx => {
      const payin = await services.payins.lock(tx, id)
      if (!payin || !isOpen(payin.status)) return false
      const view = { transfers, head, confirmations: depthOf(payin.payTo?.token) }
      const applied = await applySighting(services, tx, payin, view, clock.now())
      return transfers.some(transfer => isSame(applied.seen ?? undefined, transfer))
    })
  }

  /** A transfer that was seen is not where it was: it may have moved to another block, or be gone. */
  async function lookAgain({ id, txHash, seen }: Pending, head: number): Promise<void> {
    const transfers = (await reader.ofTransaction(txHash)) ?? []
    if (await applyTo(id, transfers, head)) return
    await db.transaction(async tx => {
      const payin = await services.payins.lock(tx, id)
      if (payin?.status !== 'confirming' || payin.seen?.blockNumber !== seen?.blockNumber) return
      const gone = { seen: null, detail: txHash }
      await services.payins.move(tx, payin, 'reorganised', gone, clock.now())
    })
  }

  /** Transactions that clients named, a few a round in turn: a node that lagged behind may have hidden their events. */
  async function lookUpSubmitted(
    head: number,
    attempt: (work: () => Promise<unknown>) => Promise<void>,
  ): Promise<void> {
    const found = await pending.submitted(chainId, lookedUp, LOOK_UPS)
    lookedUp = found.length < LOOK_UPS ? 0 : (found.at(-1) as Pending).position
    for (const { id, txHash } of found) {
      await attempt(async () => {
        const transfers = await reader.ofTransaction(txHash)
        if (transfers && transfers.length > 0) await applyTo(id, transfers, head)
      })
    }
  }

  function depthOf(token: string | undefined): number {
    return receivers.find(each => each.token === token)?.confirmations ?? confirmations
  }
}

function isSame(seen: SeenTransfer | undefined, { txHash, logIndex, blockNumber }: TokenTransfer): boolean {
  return seen?.txHash === txHash && seen.logIndex === logIndex && seen.blockNumber === blockNumber
}
