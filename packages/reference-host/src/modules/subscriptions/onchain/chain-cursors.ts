import type { EpochMs } from '@gatewright/kernel'
import { rows, toInteger, type SqlClient } from '@gatewright/kernel/sql'

/** How far a chain has been read. */
export interface ChainCursor {
  /** The first block that is not final yet. */
  readonly nextBlock: number
  /** The newest block that was read so far. */
  readonly headBlock: number
}

/** How far chains have been read, and which host reads each. */
interface ChainCursors {
  /**
   * Takes the reading of a chain until `until`, unless another owner has it now; undefined then. Of simultaneous calls one
   * gets it. `fresh`: the chain was never read.
   */
  lease(
    chainId: number,
    owner: string,
    now: EpochMs,
    until: EpochMs,
  ): Promise<ChainCursor | 'never_read' | undefined>
  /** Gives a lease back, so that another host tries. */
  release(chainId: number, owner: string): Promise<void>
  /** The first reading, which reached `headBlock`. Only one of simultaneous calls counts. */
  start(chainId: number, headBlock: number, nextBlock: number): Promise<void>
  /** Everything before `nextBlock` is final and applied. Never goes back, whoever calls in which order. */
  advance(chainId: number, nextBlock: number): Promise<void>
  /** All of the chain was read and applied up to `headBlock`, which was mined at `scannedAt`. Never goes back. */
  recordHead(chainId: number, headBlock: number, scannedAt: EpochMs): Promise<void>
}

/** A chain that was never read. */
const NEVER_READ = -1
/** No lease is longer than this: one from a host whose clock is far ahead does not bind, in ms. */
const MAX_LEASE_MS = 1_000_000

/** Cursors in SQL. */
export function chainCursors(db: SqlClient): ChainCursors {
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
      // First: whoever dies in between begins again, and the audit starts no later than the reading.
      const audit = `insert into gw_chain_audits (chain_id, next_block, claimed_at) values ($1, $2, 0)
        on conflict (chain_id) do nothing`
      await rows(db, audit, [chainId, nextBlock])
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
