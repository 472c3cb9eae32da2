import type { AssignmentServices, TransferAssignment } from './assign-transfers.ts'
import { confirmationsOf } from './match-transfer.ts'
import { payinsOnChain, type SubmittedTransaction } from './payins-on-chain.ts'

/** How many submitted transactions one round looks up at most. */
const LOOK_UPS = 20
/** After how many failed look-ups a round stops, since each can take as long as the timeout of a call. */
const MAX_FAILED = 3

/**
 * Creates the function that looks up submitted transactions and applies their transfers, in turn, a few per round: a node that
 * lagged behind may have missed their events. A failed look-up is reported.
 */
export function submittedLookups(
  { db, reader, report }: Pick<AssignmentServices, 'db' | 'reader' | 'report'>,
  transfers: Pick<TransferAssignment, 'applyTo'>,
): (head: number, signal: AbortSignal) => Promise<void> {
  const pending = payinsOnChain(db)
  let last: SubmittedTransaction | undefined
  return async (head, signal) => {
    const found = await pending.nextSubmitted(reader.chainId, last, LOOK_UPS)
    let failed = 0
    for (const each of found) {
      if (signal.aborted || failed === MAX_FAILED) return
      // Set before the look-up, so that the next transactions are looked up even if this one always fails.
      last = each
      try {
        const made = (await reader.ofTransaction(each.txHash)) ?? []
        if (made.some(transfer => confirmationsOf(transfer, head) > 0)) {
          await transfers.applyTo(each, made, head)
        }
      } catch (error) {
        failed += 1
        report(error)
      }
    }
    if (found.length < LOOK_UPS) last = undefined
  }
}
