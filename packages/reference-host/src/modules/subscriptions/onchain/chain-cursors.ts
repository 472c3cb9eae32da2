import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'

/** How far a chain has been read. */
export interface ChainCursor {
  /** The first block that is not final yet. */
  readonly nextBlock: number
  /** The newest block read so far. */
  readonly headBlock: number
}

/** Records how far each chain has been read, and which host reads it. */
interface ChainCursorStore {
  /**
   * Leases the reading of a chain until `until`. Undefined while another owner has the lease; of simultaneous
   * calls, one gets it. `never_read`: no host has read the chain yet.
   */
  lease(
    chainId: number,
    owner: string,
    now: EpochMs,
    until: EpochMs,
  ): Promise<ChainCursor | 'never_read' | undefined>
  /** Releases a lease, so that another host can read. */
  release(chainId: number, owner: string): Promise<void>
  /** Records the first reading, up to `headBlock`. Only the first call has an effect. */
  start(chainId: number, headBlock: number, nextBlock: number): Promise<void>
  /** Records that everything before `nextBlock` is final and applied. A smaller number than the stored one is ignored. */
  advance(chainId: number, nextBlock: number): Promise<void>
  /**
   * Records that the chain was read and applied up to `headBlock`, mined at `scannedAt`. Smaller values than the stored ones
   * are ignored.
   */
  recordHead(chainId: number, headBlock: number, scannedAt: EpochMs): Promise<void>
}

/** `next_block` of a chain that was never read. */
const NEVER_READ = -1
/** The longest valid lease, in ms. A longer one comes from a host whose clock is far ahead, and is ignored. */
const MAX_LEASE_MS = 1_000_000

/** Creates the cursors over SQL. */
export function chainCursorStore(db: SqlClient): ChainCursorStore {
  return {
    async lease(chainId, owner, now, until) {
      const [row] = await rows(
        db,
        `insert into gw_chain_cursors as c (chain_id, next_block, head_block, scanned_at, lease_owner, lease_until)
          values ($1, ${NEVER_READ}, 0, 0, $2, $3)
          on conflict (chain_id) do update set lease_owner = excluded.lease_owner, lease_until = excluded.lease_until
            where c.lease_until <= $4 or c.lease_until > $5 or c.lease_owner = excluded.lease_owner
          returning next_block, head_block`,
        [chainId, owner, until, now, now + MAX_LEASE_MS],
      )
      if (!row) return undefined
      const nextBlock = toInteger(row['next_block'])
      return nextBlock === NEVER_READ ? 'never_read' : { nextBlock, headBlock: toInteger(row['head_block']) }
    },
    async release(chainId, owner) {
      const text = 'update gw_chain_cursors set lease_until = 0 where chain_id = $1 and lease_owner = $2'
      await rows(db, text, [chainId, owner])
    },
    async start(chainId, headBlock, nextBlock) {
      const text = `update gw_chain_cursors set next_block = $1, head_block = $2
        where chain_id = $3 and next_block = ${NEVER_READ}`
      // Inserted first: if the host is killed in between, the start is repeated, and the search for unmatched transfers begins
      // no later than the reading.
      const search = `insert into gw_chain_audits (chain_id, next_block, claimed_at) values ($1, $2, 0)
        on conflict (chain_id) do nothing`
      await rows(db, search, [chainId, nextBlock])
      await rows(db, text, [nextBlock, headBlock, chainId])
    },
    async advance(chainId, nextBlock) {
      const text = 'update gw_chain_cursors set next_block = $1 where chain_id = $2 and next_block < $1'
      await rows(db, text, [nextBlock, chainId])
    },
    async recordHead(chainId, headBlock, scannedAt) {
      await rows(
        db,
        `update gw_chain_cursors set head_block = case when head_block < $1 then $1 else head_block end,
            scanned_at = case when scanned_at < $2 then $2 else scanned_at end where chain_id = $3`,
        [headBlock, scannedAt, chainId],
      )
    },
  }
}
