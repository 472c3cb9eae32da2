import type { EpochMs } from '@gatewright/kernel'
import { rows, toInteger, toText, type SqlClient, type SqlRow } from '@gatewright/kernel/sql'
import type { TokenTransfer } from '../../../chain/reader.ts'
import type { SeenTransfer } from '../payins/payin.ts'

/** How far a chain has been read. */
export interface ChainCursor {
  /** The first block that is not final yet. */
  readonly nextBlock: number
  /** The newest block that was read so far. */
  readonly headBlock: number
}

/** How far chains have been read, and which host reads each. */
export interface ChainCursors {
  /**
   * Takes the reading of a chain until `until`, unless another owner has it now; undefined then. Of simultaneous calls one
   * gets it. `fresh`: the chain was never read.
   */
  lease(
    chainId: number,
    owner: string,
    now: EpochMs,
    until: EpochMs,
  ): Promise<ChainCursor | 'fresh' | undefined>
  /** Gives a lease back, so that another host tries. */
  release(chainId: number, owner: string): Promise<void>
  /** The first reading, which reached `headBlock`. Only one of simultaneous calls counts. */
  begin(chainId: number, headBlock: number, nextBlock: number): Promise<void>
  /** Everything before `nextBlock` is final and applied. Never goes back, whoever calls in which order. */
  advance(chainId: number, nextBlock: number): Promise<void>
  /** All of the chain was read and applied up to `headBlock`, which was mined at `scannedAt`. Never goes back. */
  scanned(chainId: number, headBlock: number, scannedAt: EpochMs): Promise<void>
}

/** A chain that was never read. */
const FRESH = -1
/** No lease is longer than this: one from a host whose clock is far ahead does not bind, in ms. */
const MAX_LEASE_MS = 1_000_000

/** Cursors in SQL. */
export function chainCursors(db: SqlClient): ChainCursors {
  return {
    async lease(chainId, owner, now, until) {
      const [row] = await rows(
        db,
        `insert into gw_chain_cursors as c (chain_id, next_block, head_block, scanned_at, lease_owner, lease_until)
          values ($1, ${FRESH}, 0, 0, $2, $3)
          on conflict (chain_id) do update set lease_owner = excluded.lease_owner, lease_until = excluded.lease_until
            where c.lease_until <= $4 or c.lease_until > $5 or c.lease_owner = excluded.lease_owner
          returning next_block, head_block`,
        [chainId, owner, until, now, now + MAX_LEASE_MS],
      )
      if (!row) return undefined
      const nextBlock = toInteger(row['next_block'])
      return nextBlock === FRESH ? 'fresh' : { nextBlock, headBlock: toInteger(row['head_block']) }
    },
    async release(chainId, owner) {
      const text = 'update gw_chain_cursors set lease_until = 0 where chain_id = $1 and lease_owner = $2'
      await rows(db, text, [chainId, owner])
    },
    async begin(chainId, headBlock, nextBlock) {
      const text = `update gw_chain_cursors set next_block = $1, head_block = $2
        where chain_id = $3 and next_block = ${FRESH}`
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
    async scanned(chainId, headBlock, scannedAt) {
      await rows(
        db,
        `update gw_chain_cursors set head_block = case when head_block < $1 then $1 else head_block end,
            scanned_at = case when scanned_at < $2 then $2 else scanned_at end where chain_id = $3`,
        [headBlock, scannedAt, chainId],
      )
    },
  }
}

/** A pay-in that has a transfer, settled or not. */
export interface Held {
  readonly id: string
  readonly confirming: boolean
  readonly seen: SeenTransfer
}

/** A pay-in and a transaction that it is said to be paid by. */
export interface Named {
  readonly id: string
  readonly txHash: string
  readonly position: number
}

/** What a watcher asks of the pay-ins of a chain. Nothing here decides: pay-ins are locked and looked at again. */
export interface PayinsOnChain {
  /** The addresses that serve one open pay-in each. */
  ownAddresses(chainId: number): Promise<readonly string[]>
  /** Pay-ins, settled ones too, whose transfer is in a block from `fromBlock` on. */
  held(chainId: number, fromBlock: number): Promise<readonly Held[]>
  /** Pay-ins that have a transfer and are not settled. */
  confirming(chainId: number): Promise<readonly Held[]>
  /** Open pay-ins without a transfer that this one may pay, from behind `position`: oldest first. */
  payableBy(
    transfer: TokenTransfer,
    position: number,
    limit: number,
  ): Promise<readonly Omit<Named, 'txHash'>[]>
  /** Pay-ins that name this transaction, and have no transfer. */
  naming(chainId: number, txHash: string, limit: number): Promise<readonly string[]>
  /** Pay-ins said to be paid and without a transfer, in a fixed order from behind one of them. */
  named(chainId: number, after: Named | undefined, limit: number): Promise<readonly Named[]>
}

const OPEN = "status in ('awaiting_payment', 'confirming')"
const NAMED = "status = 'confirming' and submitted_tx is not null and transfer_tx is null"

const HELD = `select id, status, transfer_tx, transfer_log, transfer_block, transfer_block_hash from gw_payins
  where chain_id = $1 and transfer_tx is not null`

function toHeld(row: SqlRow): Held {
  return {
    id: toText(row['id']),
    confirming: row['status'] === 'confirming',
    seen: {
      txHash: toText(row['transfer_tx']),
      logIndex: toInteger(row['transfer_log']),
      blockNumber: toInteger(row['transfer_block']),
      blockHash: toText(row['transfer_block_hash']),
    },
  }
}

/** The pay-ins of a chain, in SQL. */
export function payinsOnChain(db: SqlClient): PayinsOnChain {
  return {
    async ownAddresses(chainId) {
      const text = `select pay_to from gw_payins where chain_id = $1 and own_receiver = 1 and ${OPEN}`
      return (await rows(db, text, [chainId])).map(row => toText(row['pay_to']))
    },
    async held(chainId, fromBlock) {
      const text = `${HELD} and transfer_block >= $2`
      return (await rows(db, text, [chainId, fromBlock])).map(toHeld)
    },
    async confirming(chainId) {
      return (await rows(db, `${HELD} and status = 'confirming'`, [chainId])).map(toHeld)
    },
    async payableBy({ chainId, to, units, token, from, minedAt }, position, limit) {
      const oldest = (payer: string): string => `select * from (select id, position from gw_payins
        where chain_id = $1 and pay_to = $2 and units = $3 and ${payer} and ${OPEN} and transfer_tx is null
          and token = $5 and created_at <= $6 and position > $7
        order by position limit $8) p`
      const text = `${oldest('payer = $4')} union all ${oldest('payer is null')}`
      const values = [chainId, to, units.toString(), from, token, minedAt, position, limit]
      return (await rows(db, text, values)).map(row => ({
        id: toText(row['id']),
        position: toInteger(row['position']),
      }))
    },
    async naming(chainId, txHash, limit) {
      const text = `select id from gw_payins where chain_id = $1 and submitted_tx = $2 and ${NAMED}
        order by position limit $3`
      return (await rows(db, text, [chainId, txHash, limit])).map(row => toText(row['id']))
    },
    async named(chainId, after, limit) {
      const text = `select id, position, submitted_tx from gw_payins
        where chain_id = $1 and (submitted_tx, position) > ($2, $3) and ${NAMED}
        order by submitted_tx, position limit $4`
      return (await rows(db, text, [chainId, after?.txHash ?? '', after?.position ?? 0, limit])).map(row => ({
        id: toText(row['id']),
        position: toInteger(row['position']),
        txHash: toText(row['submitted_tx']),
      }))
    },
  }
}
