import { Fault, type Clock, type EpochMs } from '@gatewright/kernel'
import type { ChainReader, TokenTransfer } from './reader.ts'

/** The state of one transaction on its chain. */
interface TransactionView {
  readonly transfers: readonly TokenTransfer[]
  /** The newest block, read after the transfers. */
  readonly head: number
}

/** Looks up transactions that clients submit, with a bound on the calls to the node. */
export interface TransactionLookups {
  /**
   * Finds the transfers of a transaction. Simultaneous calls for one transaction share one look-up, whose result is reused for
   * 2 s more. An account may cause 20 look-ups a minute in this process; reused results are not counted. Undefined if the
   * transaction is not mined, the node fails, or the account has used up its look-ups. The watcher finds the payment in all
   * three cases.
   */
  find(accountId: string, chainId: number, txHash: string): Promise<TransactionView | undefined>
}

interface Lookup {
  readonly view: Promise<TransactionView | undefined>
  /** Undefined while the look-up runs. */
  endedAt?: EpochMs
}

const SHARED_MS = 2000
const WINDOW_MS = 60_000
const MAX_IN_WINDOW = 20
/** Maximum number of look-ups and of accounts in memory; the oldest are evicted first. */
const MAX_LOOKUPS = 1000
const MAX_ACCOUNTS = 10_000

/** Creates the look-ups over the readers of all chains. */
export function transactionLookups(
  readers: ReadonlyMap<number, ChainReader>,
  clock: Clock,
): TransactionLookups {
  const lookups = new Map<string, Lookup>()
  const accounts = new Map<string, { startedAt: EpochMs; used: number }>()

  /** Counts one look-up of an account; false when it has used up its look-ups. */
  function take(accountId: string): boolean {
    const now = clock.now()
    const window = accounts.get(accountId)
    if (window && isWithin(now, window.startedAt, WINDOW_MS)) {
      window.used += 1
      return window.used <= MAX_IN_WINDOW
    }
    accounts.delete(accountId)
    evictOldest(accounts, MAX_ACCOUNTS)
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
      evictOldest(lookups, MAX_LOOKUPS)
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
    // Read after the transfers: an older head could be below the transfer's block.
    return { transfers, head: (await reader.head()).number }
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}

/** Whether `now` lies in the window that starts at `startedAt`. If the clock was set back, it does not. */
function isWithin(now: EpochMs, startedAt: EpochMs, lengthMs: number): boolean {
  return now >= startedAt && now < startedAt + lengthMs
}

function evictOldest(entries: Map<string, unknown>, most: number): void {
  for (const key of entries.keys()) {
    if (entries.size < most) return
    entries.delete(key)
  }
}
