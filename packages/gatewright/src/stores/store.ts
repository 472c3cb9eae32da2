import type { IdempotencyStorage } from '@gatewright/idempotency-store'
import { collectBatches } from '@gatewright/kernel'
import { systemClock } from '@gatewright/kernel/internal'
import type { ApprovalStorage, LimiterStore, SpendStorage } from '@gatewright/scope-guard'

/** Where a server keeps its state: `memoryStore()`, `redisStore(client)`, `postgresStore(pool)`, `sqliteStore(database)`, or your own. */
export interface Store {
  /** Records of idempotent writes and their responses. */
  readonly idempotency: IdempotencyStorage
  /** Counters of spend caps. Without them, an operation that spends is refused at start-up. */
  readonly spends?: SpendStorage
  /** Approvals of amounts above `approveAboveCents`. Required with the option `approvals`. */
  readonly approvals?: ApprovalStorage
  /** Where rate limits count. Absent: in this process. */
  readonly limits?: LimiterStore
  /** Whether a server with this store may have one process only: then `gatewright` warns where it notices several. Default false. */
  readonly onlyProcess?: boolean
  /** Creates or updates the tables, and checks that Redis deletes no keys when its memory is short. Call it before the server listens. Repeatable, also from several processes simultaneously. */
  migrate(): Promise<void>
  /**
   * Deletes expired rows, and returns how many. Call it every few minutes, or tables grow. Stores that expire entries themselves
   * return 0.
   */
  collect(): Promise<number>
}

/** Names a value that was given in place of a client. A promise of one is what an `await` that is missing gives. */
export function nameOfGiven(given: unknown): string {
  if (given === null) return 'null'
  return given instanceof Promise ? 'a promise: await it first' : typeof given
}

/** How many rows one statement deletes at most. */
const BATCH = 1000

/** Makes the function `collect` of a store. */
export function collector({
  idempotency,
  spends,
  approvals,
}: Pick<Required<Store>, 'idempotency' | 'spends' | 'approvals'>): Store['collect'] {
  return async () => {
    let deleted = 0
    for (const storage of [idempotency, spends, approvals])
      deleted += await collectBatches(limit => storage.collect(limit, systemClock.now()), BATCH)
    return deleted
  }
}
