import type { Clock } from '@gatewright/kernel'
import type { SqlClient, SqlQueries } from '@gatewright/kernel/sql'
import type { GuardOptions, SpendStorage } from '@gatewright/scope-guard'
import { events } from './events.ts'

/** How many operations of a limit an event names. */
const MAX_NAMED = 8

/** Spend counters, with the transaction or the database that they are counted in. */
interface CountedIn extends SpendStorage {
  readonly db: SqlClient | SqlQueries
}

/** Makes the spend counters of a transaction or of the database, so that their alerts are recorded there too. */
export function spendsIn(db: SqlClient | SqlQueries, spend: (db: SqlQueries) => SpendStorage): CountedIn {
  return { ...spend(db), db }
}

/**
 * Makes the `onAlert` of the guards of a host, whose stores `spendsIn` makes. Each alert is one event of its account, recorded once for its counter
 * and window, in the transaction of the amount where there is one. Its `detail` is the alert as JSON.
 */
export function alertRecorder(clock: Clock): NonNullable<GuardOptions['onAlert']> {
  return ({ id, accountId, operations, ...rest }, storage) => {
    const { db } = storage as CountedIn
    const alert = { ...rest, operations: operations?.slice(0, MAX_NAMED) }
    const event = {
      accountId,
      subject: { kind: 'limit', id },
      cause: 'alert',
      amountCents: alert.unit === 'cents' ? alert.used : null,
      detail: JSON.stringify(alert),
      // A window without an end: if its event were deleted, the next amount would record it again.
      keep: alert.resetsAt === null,
    }
    const record = (tx: SqlQueries): Promise<void> => events.recordOnce(tx, event, clock.now())
    return 'transaction' in db ? db.transaction(record) : record(db)
  }
}
