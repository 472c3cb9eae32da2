import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'
import {
  type Row,
  hostTable,
  instant,
  integer,
  nullable,
  oneOf,
  position,
  text,
} from '@gatewright/host/tables'
import type { TokenTransfer } from '../../../chain/reader.ts'
import { payins } from '../payins/payin-store.ts'
import type { DepositAddress, UnmatchedReason } from './unmatched-reason.ts'

/** Final transfers to addresses of the host that match no pay-in. */
const unmatchedTransfers = hostTable('gw_unmatched_transfers', {
  position,
  chainId: integer,
  txHash: text,
  logIndex: integer,
  blockNumber: integer,
  token: text,
  sender: text,
  receiver: text,
  /** In the token's smallest unit. */
  units: text,
  minedAt: instant,
  reason: oneOf<UnmatchedReason>(),
  accountId: nullable(text),
  payinId: nullable(text),
  foundAt: instant,
})
type StoredTransfer = Row<typeof unmatchedTransfers>

/** An unmatched transfer in the list for operators. */
interface UnmatchedTransfer
  extends Omit<StoredTransfer, 'position' | 'txHash' | 'logIndex' | 'blockNumber' | 'foundAt'> {
  /** `chain:transaction:log`: identifies the event, also as the REFERENCE of `ledger credit`. */
  readonly reference: string
}

/** Storage of unmatched transfers, and of how far each chain was searched for them. */
export interface UnmatchedTransferStore {
  /** Starts a search and returns the blocks to read. Undefined if any host started one after `lastSearchBefore`. */
  claim(
    chainId: number,
    now: EpochMs,
    lastSearchBefore: EpochMs,
  ): Promise<{ readonly fromBlock: number; readonly toBlock: number } | undefined>
  /** Lists up to `limit` addresses that the host ever used on a chain, in order, after `after`. */
  addresses(chainId: number, after: string, limit: number): Promise<readonly string[]>
  /** Whether the event is assigned to a pay-in, or its transaction settled one from another block. */
  isMatched(transfer: TokenTransfer): Promise<boolean>
  /** The deposit address that a transfer was sent to, with its pay-in; undefined for a shared address. */
  depositAddress(chainId: number, address: string): Promise<DepositAddress | undefined>
  /** Records a transfer; false when it was recorded before. */
  add(
    transfer: TokenTransfer,
    finding: {
      readonly reason: UnmatchedReason
      readonly accountId: string | null
      readonly payinId: string | null
    },
    now: EpochMs,
  ): Promise<boolean>
  /** Records that all blocks before `nextBlock` were searched. A smaller number than the stored one is ignored. */
  advance(chainId: number, nextBlock: number): Promise<void>
}

/** Creates the store of unmatched transfers over SQL. */
export function unmatchedTransferStore(db: SqlClient): UnmatchedTransferStore {
  return {
    async claim(chainId, now, lastSearchBefore) {
      const claim = `update gw_chain_audits set claimed_at = $1
        where chain_id = $2 and (claimed_at <= $3 or claimed_at > $1) returning next_block`
      const [row] = await rows(db, claim, [now, chainId, lastSearchBefore])
      if (!row) return undefined
      const [cursor] = await rows(db, 'select next_block from gw_chain_cursors where chain_id = $1', [
        chainId,
      ])
      return { fromBlock: toInteger(row['next_block']), toBlock: toInteger(cursor?.['next_block']) - 1 }
    },
    async addresses(chainId, after, limit) {
      const text = `select address from gw_deposit_addresses where chain_id = $1 and address > $2
        order by address limit $3`
      return (await rows(db, text, [chainId, after, limit])).map(row => toText(row['address']))
    },
    async isMatched({ chainId, txHash, logIndex, blockHash }) {
      const text = `select 1 from gw_payin_transfers where chain_id = $1 and tx_hash = $2
        and (log_index = $3 or (settled = 1 and block_hash <> $4))`
      return (await rows(db, text, [chainId, txHash, logIndex, blockHash])).length > 0
    },
    async depositAddress(chainId, address) {
      const text =
        'select account_id, payin_id from gw_deposit_addresses where chain_id = $1 and address = $2'
      const [row] = await rows(db, text, [chainId, address])
      if (!row) return undefined
      if (row['payin_id'] === null) return { payin: undefined }
      return { payin: await paidTo(db, toText(row['account_id']), toText(row['payin_id'])) }
    },
    async add({ from: sender, to: receiver, units, ...transfer }, finding, now) {
      const { chainId, txHash, logIndex, blockNumber, token, minedAt } = transfer
      const event = { chainId, txHash, logIndex, blockNumber, token, sender, receiver, minedAt }
      const row = { ...event, ...finding, units: units.toString(), foundAt: now }
      return (await unmatchedTransfers.insert(db, row)) !== undefined
    },
    async advance(chainId, nextBlock) {
      const text = 'update gw_chain_audits set next_block = $1 where chain_id = $2 and next_block < $1'
      await rows(db, text, [nextBlock, chainId])
    },
  }
}

async function paidTo(db: SqlQueries, accountId: string, id: string): Promise<DepositAddress['payin']> {
  const payin = await payins.find(db, accountId, id)
  if (!payin?.payTo) return undefined
  const { status, createdAt, expiresAt } = payin
  const { token, units } = payin.payTo
  return { id, accountId, status, token, units, createdAt, expiresAt }
}

/** The newest unmatched transfers that are not handled. Transfers that have settled a pay-in since then are left out. */
export async function listUnmatched(db: SqlQueries, limit: number): Promise<readonly UnmatchedTransfer[]> {
  const conditions = 'where handled_at is null and position < $1 order by position desc limit $2'
  const listed: StoredTransfer[] = []
  for (let before = Number.MAX_SAFE_INTEGER; listed.length < limit; ) {
    const page = await unmatchedTransfers.select(db, conditions, [before, limit])
    const settled = await settledAmong(db, page)
    listed.push(...page.filter(transfer => !settled.has(referenceOf(transfer))))
    const last = page.at(-1)
    if (!last || page.length < limit) break
    before = last.position
  }
  return listed
    .slice(0, limit)
    .map(({ txHash, logIndex, position: _position, blockNumber: _block, foundAt: _at, ...transfer }) => ({
      reference: referenceOf({ chainId: transfer.chainId, txHash, logIndex }),
      ...transfer,
    }))
}

/**
 * The references of those transfers that have settled a pay-in. Not joined to them: Citus refuses a condition on many machines beside a table
 * that all of them have.
 */
async function settledAmong(
  db: SqlQueries,
  transfers: readonly StoredTransfer[],
): Promise<ReadonlySet<string>> {
  if (transfers.length === 0) return new Set()
  const hashes = [...new Set(transfers.map(({ txHash }) => txHash))]
  const chains = [...new Set(transfers.map(({ chainId }) => chainId))]
  const text = `select chain_id, tx_hash, log_index from gw_payin_transfers where settled = 1
    and chain_id in (${placesOf(chains.length, 1)}) and tx_hash in (${placesOf(hashes.length, 1 + chains.length)})`
  const found = await rows(db, text, [...chains, ...hashes])
  return new Set(
    found.map(row =>
      referenceOf({
        chainId: toInteger(row['chain_id']),
        txHash: toText(row['tx_hash']),
        logIndex: toInteger(row['log_index']),
      }),
    ),
  )
}

const placesOf = (count: number, first: number): string =>
  Array.from({ length: count }, (_, index) => `$${first + index}`).join(', ')

const referenceOf = ({
  chainId,
  txHash,
  logIndex,
}: Pick<StoredTransfer, 'chainId' | 'txHash' | 'logIndex'>): string => `${chainId}:${txHash}:${logIndex}`

/** Marks an unmatched transfer as handled; false when the reference is unknown or was handled before. */
export async function markHandled(db: SqlQueries, reference: string, now: EpochMs): Promise<boolean> {
  const [, chainId, txHash, logIndex] =
    /^(?:eip155:)?(\d{1,15}):(0x[0-9a-f]{64}):(\d{1,9})$/.exec(reference) ?? []
  if (chainId === undefined || txHash === undefined) return false
  const text = `update gw_unmatched_transfers set handled_at = $1
    where chain_id = $2 and tx_hash = $3 and log_index = $4 and handled_at is null returning 1 as handled`
  return (await rows(db, text, [now, Number(chainId), txHash, Number(logIndex)])).length > 0
}
