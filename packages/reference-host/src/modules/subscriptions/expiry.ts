import type { Clock, EpochMs } from '@gatewright/kernel'
import { rows, toInteger, toText, type SqlClient, type SqlDialect } from '@gatewright/kernel/sql'
import type { PayinEndings } from './endings.ts'
import type { PayinStore } from './payin-store.ts'

/** What expiry works on. */
export interface ExpiryServices {
  readonly db: SqlClient
  readonly dialect: SqlDialect
  readonly payins: PayinStore
  readonly endings: PayinEndings
  readonly clock: Clock
}

/**
 * How far behind its deadline the chain must have been read before a pay-in with an address ends: what was mined in time must
 * not be missed, even where a node can search the events of a block only some time after it knows the block.
 */
export const CHAIN_GRACE_MS = 60_000

/** Ends what is due; at most `limit` pay-ins. */
export type ExpirePayins = (limit: number, report: (error: unknown) => void) => Promise<number>

/**
 * Ends pay-ins whose deadline has come: at `expiresAt` exactly where only the balance could pay; with an address to pay to,
 * once its chain was read through to `expiresAt` plus a grace and showed no payment. Many hosts may do it at once: each
 * takes what no other has. One that fails is reported, and the ones behind it still end.
 */
export function payinExpiry({ db, dialect, payins, endings, clock }: ExpiryServices): ExpirePayins {
  const skipLocked = dialect === 'postgres' ? ' for update of p skip locked' : ''
  const next = `select p.id, p.expires_at from gw_payins p
    where p.status in ('awaiting_payment', 'confirming') and p.expires_at <= $1 and p.transfer_tx is null
      and (p.expires_at, p.id) > ($2, $3)
      and (p.chain_id is null or exists (select 1 from gw_chain_cursors c
        where c.chain_id = p.chain_id and c.scanned_at >= p.expires_at + ${CHAIN_GRACE_MS}))
    order by p.expires_at, p.id limit 1${skipLocked}`

  /** Ends the first due pay-in behind a place; undefined when there is none. */
  const endOne = (place: Place, now: EpochMs, onFound: (found: Place) => void): Promise<boolean> =>
    db.transaction(async tx => {
      const [row] = await rows(tx, next, [now, place.expiresAt, place.id])
      if (!row) return false
      const found = { expiresAt: toInteger(row['expires_at']), id: toText(row['id']) }
      onFound(found)
      const payin = await payins.lock(tx, found.id)
      if (!payin) throw new Error('a pay-in has gone: rows must never be deleted')
      const named = payin.status === 'confirming' && payin.submittedTx !== null
      await endings.ended(tx, payin, named ? 'payment_invalid' : 'deadline_passed', now)
      return true
    })

  return async (limit, report) => {
    let place: Place = { expiresAt: 0, id: '' }
    let ended = 0
    for (let round = 0; round < limit; round += 1) {
      const before = place
      try {
        const found = await endOne(place, clock.now(), at => {
          place = at
        })
        if (!found) return ended
        ended += 1
      } catch (error) {
        report(error)
        // A store that cannot even say what is due is not asked again in this round.
        if (place === before) return ended
      }
    }
    return ended
  }
}

interface Place {
  readonly expiresAt: EpochMs
  readonly id: string
}
