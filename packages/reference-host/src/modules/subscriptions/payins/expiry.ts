import type { Clock, EpochMs } from '@gatewright/kernel/internal'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { rowLock, toInteger, toText } from '@gatewright/kernel/internal/sql'
import { payins } from './payin-store.ts'
import type { PayinSettlement } from './settlement.ts'

/** The stores and services that expiry needs. */
interface ExpiryServices {
  readonly db: SqlClient
  readonly settlement: PayinSettlement
  readonly clock: Clock
}

/**
 * How far past a pay-in's deadline its chain must have been read before the pay-in closes. Payments mined in
 * time must be found even when a node can search a block's events only some time after it knows the block.
 */
const CHAIN_GRACE_MS = 60_000

/**
 * Creates the function that closes due pay-ins, at most `limit` per call, and returns how many it closed. A pay-in without an
 * address closes at `dueAt`. One with an address closes once its chain was read up to `dueAt` plus a grace period without a
 * payment. Many hosts may run it simultaneously: each takes pay-ins that no other has locked. If one fails, that is reported, and the
 * next ones still close.
 */
export function payinExpiry(
  services: ExpiryServices,
): (limit: number, report: (error: unknown) => void) => Promise<number> {
  const { db, clock } = services
  return async (limit, report) => {
    const now = clock.now()
    const read = await rows(db, 'select chain_id, scanned_at from gw_chain_cursors')
    const chains = read.map(row => ({
      chainId: toInteger(row['chain_id']),
      until: Math.min(now, toInteger(row['scanned_at']) - CHAIN_GRACE_MS),
    }))
    let ended = 0
    for (const group of [{ chainId: null, until: now }, ...chains]) {
      ended += await endAll(services, group, limit - ended, report)
    }
    return ended
  }
}

/** Pay-ins of one chain, or of none, that are due until an instant, inclusive. */
interface Group {
  readonly chainId: number | null
  readonly until: EpochMs
}

interface Position {
  readonly dueAt: EpochMs
  readonly id: string
}

async function endAll(
  services: ExpiryServices,
  group: Group,
  limit: number,
  report: (error: unknown) => void,
): Promise<number> {
  let position: Position = { dueAt: 0, id: '' }
  let ended = 0
  for (let round = 0; round < limit; round += 1) {
    const before = position
    try {
      const found = await endNext(services, group, position, at => {
        position = at
      })
      if (!found) return ended
      ended += 1
    } catch (error) {
      report(error)
      // The position did not advance: the query for due pay-ins itself failed, so the round ends.
      if (position === before) return ended
    }
  }
  return ended
}

/** Closes the first due pay-in after a position; false if no pay-in is due. */
function endNext(
  { db, settlement, clock }: ExpiryServices,
  { chainId, until }: Group,
  position: Position,
  onFound: (found: Position) => void,
): Promise<boolean> {
  const next = `select id, due_at from gw_payins
    where chain_id ${chainId === null ? 'is null' : '= $4'} and status in ('awaiting_payment', 'confirming')
      and due_at <= $1 and transfer_tx is null and (due_at, id) > ($2, $3)
    order by chain_id, due_at, id limit 1${rowLock(db, 'for update skip locked')}`
  return db.transaction(async tx => {
    const [row] = await rows(tx, next, [
      until,
      position.dueAt,
      position.id,
      ...(chainId === null ? [] : [chainId]),
    ])
    if (!row) return false
    const found = { dueAt: toInteger(row['due_at']), id: toText(row['id']) }
    onFound(found)
    const payin = await payins.anyAccount.lock(tx, found.id)
    if (!payin) throw new Error('a pay-in row is missing: open pay-ins must never be deleted')
    const named = payin.status === 'confirming' && payin.submittedTx !== null
    await settlement.close(tx, payin, named ? 'payment_invalid' : 'deadline_passed', clock.now())
    return true
  })
}
