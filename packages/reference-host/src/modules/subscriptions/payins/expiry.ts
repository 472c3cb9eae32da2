import type { Clock, EpochMs } from '@gatewright/kernel'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'
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
      if (ended < limit) ended += await endAll(services, group, limit - ended, report)
    }
    return ended
  }
}

/** Pay-ins of one chain, or of none, that are due until an instant, inclusive. */
interface Group {
  readonly chainId: number | null
  readonly until: EpochMs
}

interface DuePayin {
  readonly accountId: string
  readonly id: string
}

async function endAll(
  services: ExpiryServices,
  group: Group,
  limit: number,
  report: (error: unknown) => void,
): Promise<number> {
  let ended = 0
  let begun = true
  try {
    for (const payin of await duePayins(services.db, group, limit)) {
      begun = false
      try {
        const done = await services.db.transaction(tx => {
          begun = true
          return endPayin(services, tx, payin, group.until)
        })
        if (done) ended += 1
      } catch (error) {
        report(error)
        // The database cannot be reached, so the next ones would fail, too.
        if (!begun) return ended
      }
    }
  } catch (error) {
    report(error)
  }
  return ended
}

/** Finds the first due pay-ins of a group. Others may have locked or closed them by now. */
async function duePayins(
  db: SqlQueries,
  { chainId, until }: Group,
  limit: number,
): Promise<readonly DuePayin[]> {
  const text = `select account_id, payin_id from gw_open_payins
    where chain_id ${chainId === null ? 'is null' : '= $3'} and due_at <= $1 and has_transfer = 0
    order by chain_id, due_at, payin_id limit $2`
  const found = await rows(db, text, [until, limit, ...(chainId === null ? [] : [chainId])])
  return found.map(row => ({ accountId: toText(row['account_id']), id: toText(row['payin_id']) }))
}

/** Closes a due pay-in. False if another transaction has locked it, or it is not due any more. */
async function endPayin(
  { settlement, clock }: ExpiryServices,
  tx: SqlQueries,
  { accountId, id }: DuePayin,
  until: EpochMs,
): Promise<boolean> {
  const payin = await payins.lockDue(tx, accountId, id, until)
  if (!payin) return false
  const named = payin.status === 'confirming' && payin.submittedTx !== null
  await settlement.close(tx, payin, named ? 'payment_invalid' : 'deadline_passed', clock.now())
  return true
}
