import type { EpochMs } from '@gatewright/kernel'
import { rows, toInteger, toText, type SqlClient } from '@gatewright/kernel/sql'
import type { TokenTransfer } from '../../chain/reader.ts'
import type { SeenTransfer } from './payin.ts'

/** A pay-in that was seen paid, or said to be paid, and is not settled. */
export interface Pending {
  readonly id: string
  readonly position: number
  readonly txHash: string
  /** Undefined: the client named it, and no block has shown it. */
  readonly seen: SeenTransfer | undefined
}

/** How far a chain has been read, and which host reads it. */
export interface ChainCursors {
  /**
   * Takes the reading of a chain until `until`, unless another owner has it now; undefined then. Of simultaneous calls one
   * gets it. The answer is the first block that is not final yet; `fresh` where the chain was never read.
   */
  lease(chainId: number, owner: string, now: EpochMs, until: EpochMs): Promise<number | 'fresh' | undefined>
  /** Everything before `nextBlock` is final and applied. `scannedAt`: the time of the newest block,
   * where the reading reached it. */
  advance(chainId: number, owner: string, nextBlock: number, scannedAt: EpochMs | undefined): Promise<void>
}

/** What a watcher asks of the pay-ins of a chain. Nothing here decides: pay-ins are locked and looked at again. */
export interface PayinsOnChain {
  /** The addresses that serve one open pay-in each. */
  ownAddresses(chainId: number): Promise<readonly string[]>
  /** Open pay-ins that a transfer may pay, likeliest first. */
  payableBy(transfer: TokenTransfer): Promise<readonly string[]>
  /** Pay-ins that were seen paid. */
  seen(chainId: number): Promise<readonly Pending[]>
  /** Pay-ins said to be paid and not seen so, from behind a position. */
  submitted(chainId: number, position: number, limit: number): Promise<readonly Pending[]>
}

/** A chain that was never read: `next_block` until the first reading. */
const FRESH = -1

/** Cursors in SQL. */
export function chainCursors(db: SqlClient): ChainCursors {
  return {
    async lease(chainId, owner, now, until) {
      const [row] = await rows(
        db,
        `insert into gw_chain_cursors as c (chain_id, next_block, scanned_at, lease_owner, lease_until)
          values ($1, ${FRESH}, 0, $2, $3)
          on conflict (chain_id) do update set lease_owner = excluded.lease_owner, lease_until = excluded.lease_until
            where c.lease_until <= $4 or c.lease_owner = excluded.lease_owner
          returning next_block`,
        [chainId, owner, until, now],
      )
      if (!row) return undefined
      const next = toInteger(row['next_block'])
      return next === FRESH ? 'fresh' : next
    },
    async advance(chainId, owner, nextBlock, scannedAt) {
      await rows(
        db,
        `update gw_chain_cursors set
            next_block = case when next_block < $1 then $1 else next_block end,
            scanned_at = case when scanned_at < $2 then $2 else scanned_at end
          where chain_id = $3 and lease_owner = $4`,
        [nextBlock, scannedAt ?? 0, chainId, owner],
      )
    },
  }
}

const OPEN = "status in ('awaiting_payment', 'confirming')"

/** The pay-ins of a chain, in SQL. */
export function payinsOnChain(db: SqlClient): PayinsOnChain {
  return {
    async ownAddresses(chainId) {
      const text = `select pay_to from gw_payins where chain_id = $1 and own_receiver = 1 and ${OPEN}`
      return (await rows(db, text, [chainId])).map(row => toText(row['pay_to']))
    },
    async payableBy({ chainId, to, units, token, from, minedAt, txHash, logIndex }) {
      const found = await rows(
        db,
        `select id from gw_payins where chain_id = $1 and pay_to = $2 and units = $3 and ${OPEN}
            and token = $4 and (own_receiver = 1 or payer = $5) and created_at <= $6
            and (transfer_tx is null or (transfer_tx = $7 and transfer_log = $8))
          order by case when transfer_tx is not null then 0 when submitted_tx = $7 then 1 else 2 end, position
          limit 5`,
        [chainId, to, units.toString(), token, from, minedAt, txHash, logIndex],
      )
      return found.map(row => toText(row['id']))
    },
    async seen(chainId) {
      const text = `select id, position, transfer_tx, transfer_log, transfer_block from gw_payins
        where chain_id = $1 and status = 'confirming' and transfer_tx is not null order by transfer_block`
      return (await rows(db, text, [chainId])).map(row => {
        const txHash = toText(row['transfer_tx'])
        const blockNumber = toInteger(row['transfer_block'])
        const seen = { txHash, logIndex: toInteger(row['transfer_log']), blockNumber }
        return { id: toText(row['id']), position: toInteger(row['position']), txHash, seen }
      })
    },
    async submitted(chainId, position, limit) {
      const text = `select id, position, submitted_tx from gw_payins
        where chain_id = $1 and status = 'confirming' and submitted_tx is not null and transfer_tx is null
          and position > $2 order by position limit $3`
      return (await rows(db, text, [chainId, position, limit])).map(row => ({
        id: toText(row['id']),
        position: toInteger(row['position']),
        txHash: toText(row['submitted_tx']),
        seen: undefined,
      }))
    },
  }
}
