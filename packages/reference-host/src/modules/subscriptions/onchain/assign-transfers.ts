import type { Clock } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import type { ChainReader, TokenTransfer } from '../../../chain/reader.ts'
import type { PayinReceiver } from '../../../chain/receivers.ts'
import { isOpen } from '../payins/states.ts'
import { applyTransfers, isSameEvent, type ApplyServices } from './apply-transfers.ts'
import { confirmationsOf } from './match-transfer.ts'
import { payinsOnChain, type AssignedTransfer, type FoundPayin } from './payins-on-chain.ts'
import { payins } from '../payins/payin-store.ts'

/** The stores, and the chain that transfers are read from. */
export interface AssignmentServices extends ApplyServices {
  readonly db: SqlClient
  readonly clock: Clock
  readonly reader: ChainReader
  /** The configured receivers of the reader's chain; at least one. */
  readonly receivers: readonly PayinReceiver[]
  /** Called with failures that do not fail the whole round. */
  readonly report: (error: unknown) => void
}

/** Assigns the transfers of a chain to pay-ins. */
export interface TransferAssignment {
  /**
   * Applies the transfers of blocks from `fromBlock` on. Each goes to the pay-in that it is assigned to; else to one that had
   * it before a reorganisation; else to one for which its transaction was submitted; else to the oldest that it matches.
   * Applies all of them, then rejects if one failed.
   */
  apply(transfers: readonly TokenTransfer[], head: number, fromBlock: number): Promise<void>
  /**
   * Applies transfers to one pay-in, which is read again under its lock. True when one of them is now
   * assigned to it.
   */
  applyTo(payin: FoundPayin, transfers: readonly TokenTransfer[], head: number): Promise<boolean>
  /**
   * Looks up seen transfers that were not among those read last: they may have moved to another block, or have been removed by
   * a reorganisation. A transfer counts as removed after two calls in a row, so that a single reply of a lagging node does no
   * harm. A failure is reported, and the next transfer is looked up.
   */
  recheckMissing(shown: readonly TokenTransfer[], head: number, signal: AbortSignal): Promise<void>
}

/** How many open pay-ins are read at a time to match one transfer. */
const CANDIDATES = 5

const eventKey = ({ txHash, logIndex, blockHash }: AssignedTransfer['seen']): string =>
  `${txHash} ${logIndex} ${blockHash}`

/** Creates the assignment over the host's stores. */
export function transferAssignment(services: AssignmentServices): TransferAssignment {
  const { db, clock, reader, receivers, report } = services
  const { chainId } = reader
  const pending = payinsOnChain(db)
  const deepest = Math.max(...receivers.map(each => each.confirmations))
  const depthOf = (token: string): number =>
    receivers.find(each => each.token === token)?.confirmations ?? deepest
  const isDeep = (transfer: TokenTransfer, head: number): boolean =>
    confirmationsOf(transfer, head) >= depthOf(transfer.token)
  let missing = new Set<string>()

  const applyTo: TransferAssignment['applyTo'] = ({ accountId, id }, transfers, head) =>
    db.transaction(async tx => {
      const payin = await payins.lock(tx, accountId, id)
      if (!payin || !isOpen(payin.status)) return false
      const confirmations = depthOf(payin.payTo?.token ?? '')
      const view = { transfers, head, confirmations, now: clock.now() }
      const { seen, status } = await applyTransfers(services, tx, payin, view)
      const found = seen === null ? undefined : transfers.find(transfer => isSameEvent(seen, transfer))
      // If a transfer has its confirmations and did not settle this pay-in, it is assigned to another one.
      return found !== undefined && (status === 'settled' || !isDeep(found, head))
    })

  /**
   * Assigns a transfer to the first pay-in that it matches. Pay-ins that had this transfer in another block come first, so that
   * they keep it after a reorganisation.
   */
  async function assign(transfer: TokenTransfer, head: number): Promise<void> {
    for (const find of [
      () => pending.moved(transfer, CANDIDATES),
      () => pending.submittedWith(chainId, transfer.txHash, CANDIDATES),
    ]) {
      for (const payin of await find()) if (await applyTo(payin, [transfer], head)) return
    }
    for (let position = 0; ; ) {
      const candidates = await pending.payableBy(transfer, position, CANDIDATES)
      for (const candidate of candidates) {
        if (await applyTo(candidate, [transfer], head)) return
        position = candidate.position
      }
      if (candidates.length < CANDIDATES) return
    }
  }

  /** Records that the transfer was removed by a reorganisation: the pay-in waits for a payment again. */
  const recordReorganisation = ({ accountId, id, seen }: AssignedTransfer): Promise<void> =>
    db.transaction(async tx => {
      const payin = await payins.lock(tx, accountId, id)
      if (payin?.status !== 'confirming' || !payin.seen || !isSameEvent(payin.seen, seen)) return
      await payins.move(tx, payin, 'reorganised', { seen: null, detail: seen.txHash, now: clock.now() })
    })

  return {
    applyTo,
    async apply(transfers, head, fromBlock) {
      if (transfers.length === 0) return
      const assigned = new Map(
        (await pending.assignedTransfers(chainId, fromBlock)).map(each => [eventKey(each.seen), each]),
      )
      const failures: unknown[] = []
      for (const transfer of transfers) {
        const owner = assigned.get(eventKey(transfer))
        // Nothing changes if the transfer has settled its pay-in, or is known and lacks confirmations.
        if (owner && !(owner.confirming && isDeep(transfer, head))) continue
        const applied = owner ? applyTo(owner, [transfer], head) : assign(transfer, head)
        await applied.catch((error: unknown) => failures.push(error))
      }
      if (failures.length > 0) throw new AggregateError(failures, `chain ${chainId} was not applied in full`)
    },
    async recheckMissing(shown, head, signal) {
      const there = new Set(shown.filter(transfer => !isDeep(transfer, head)).map(eventKey))
      const before = missing
      missing = new Set()
      const lost = (await pending.confirmingTransfers(chainId)).filter(
        ({ seen }) => !there.has(eventKey(seen)) && seen.blockNumber <= head,
      )
      for (const each of lost) {
        if (signal.aborted) return
        try {
          const found = (await reader.ofTransaction(each.seen.txHash)) ?? []
          if (await applyTo(each, found, head)) continue
          if (before.has(each.id)) await recordReorganisation(each)
          else missing.add(each.id)
        } catch (error) {
          report(error)
        }
      }
    },
  }
}
