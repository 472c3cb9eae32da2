import { Fault, type Clock, type EpochMs } from '@gatewright/kernel'
import type { ChainReader, TokenTransfer } from './reader.ts'

/** What a chain says of one transaction. */
interface TransactionView {
  readonly transfers: readonly TokenTransfer[]
  /** The newest block, asked for after the transfers. */
  readonly head: number
}

/** Looks up transactions that clients name, so that the node is asked a bounded number of times. */
export interface TransactionLookups {
  /**
   * The transfers of a transaction. Simultaneous calls for one transaction share one look-up, and its result serves
   * for 2 s more. An account causes at most 20 look-ups a minute in this process; calls that a running or recent look-up
   * answers are not counted. Undefined: no block holds a transfer of it, the chain cannot be asked, or the account has
   * used up its look-ups. The watcher finds the payment in all three cases.
   */
  find(accountId: string, chainId: number, txHash: string): Promise<TransactionView | undefined>
}

interface Lookup {
  readonly view: Promise<TransactionView | undefined>
  /** Unset while the node is asked. */
  endedAt?: EpochMs
}

const SHARED_MS = 2000
const WINDOW_MS = 60_000
const MOST_IN_WINDOW = 20
/** Look-ups and accounts that are remembered; the oldest give way. */
const MOST_LOOKUPS = 1000
const MOST_ACCOUNTS = 10_000

/** Look-ups over the readers of all chains. */
export function transactionLookups(
  readers: ReadonlyMap<number, ChainReader>,
  clock: Clock,
): TransactionLookups {
  const lookups = new Map<string, Lookup>()
  const accounts = new Map<string, { startedAt: EpochMs; used: number }>()

  /** Counts one look-up of an account; false when it has none left. */
  function take(accountId: string): boolean {
    const now = clock.now()
    const window = accounts.get(accountId)
    if (window && isWithin(now, window.startedAt, WINDOW_MS)) {
      window.used += 1
      return window.used <= MOST_IN_WINDOW
    }
    accounts.delete(accountId)
    evictOldest(accounts, MOST_ACCOUNTS)
    accounts.set(accountId, { startedAt: now, used: 1 })
    return true
  }

  return {
    async find(accountId, chainId, txHash) {
      const reader = readers.get(chainId)
      if (!reader) return undefined
      const key = `${chainId} ${txHash}`
      const known = lookups.get(key)
      if (known && (known.endedAt === undefined || isWithin(clock.now(), known.endedAt, SHARED_MS))) {
        return known.view
      }
      if (!take(accountId)) return undefined
      lookups.delete(key)
      evictOldest(lookups, MOST_LOOKUPS)
      const lookup: Lookup = { view: lookUp(reader, txHash) }
      lookups.set(key, lookup)
      try {
        return await lookup.view
      } finally {
        lookup.endedAt = clock.now()
      }
    },
  }
}

async function lookUp(reader: ChainReader, txHash: string): Promise<TransactionView | undefined> {
  try {
    const transfers = await reader.ofTransaction(txHash)
    if (!transfers || transfers.length === 0) return undefined
    // Asked second: a head from before could be older than the transfer's block.
    return { transfers, head: (await reader.head()).number }
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}

/** Whether `now` is in the window from an instant on; a clock that was set back is outside. */
function isWithin(now: EpochMs, startedAt: EpochMs, lengthMs: number): boolean {
  return now >= startedAt && now < startedAt + lengthMs
}

function evictOldest(entries: Map<string, unknown>, most: number): void {
  for (const key of entries.keys()) {
    if (entries.size < most) return
    entries.delete(key)
  }
}
