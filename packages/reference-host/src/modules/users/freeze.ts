import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { rowLock, toInteger } from '@gatewright/kernel/internal/sql'
import { operatorActions } from '@gatewright/host/internal'
import { appendProductAudit } from '@gatewright/session-issuer/internal'

/** When an account is frozen or unfrozen, and what is recorded of who did it and why. */
interface FreezeChange {
  readonly now: EpochMs
  readonly note?: string | undefined
}

/**
 * Freezes an account: until it is unfrozen, nothing leaves it and it makes no keys, while reads, locks and revocations work and money arrives.
 * Card payments that were authorized before are settled. A payment that runs at once either commits before, or is denied: once this has
 * resolved, none that had not committed does. Repeating it changes nothing. Returns whether it was changed; undefined: no such account.
 */
export function freezeAccount(
  db: SqlClient,
  accountId: string,
  change: FreezeChange,
): Promise<boolean | undefined> {
  return setFrozen(db, accountId, { ...change, frozen: true })
}

/** Ends the freeze of an account: all is as before. Returns whether it was changed; undefined: no such account. */
export function unfreezeAccount(
  db: SqlClient,
  accountId: string,
  change: FreezeChange,
): Promise<boolean | undefined> {
  return setFrozen(db, accountId, { ...change, frozen: false })
}

/** Returns when an account was frozen; null: it is not. */
export async function frozenAt(db: SqlQueries, accountId: string): Promise<EpochMs | null> {
  const [row] = await rows(db, 'select frozen_at from gw_users where account_id = $1', [accountId])
  const at = row?.['frozen_at'] ?? null
  return at === null ? null : toInteger(at)
}

function setFrozen(
  db: SqlClient,
  accountId: string,
  { frozen, now, note }: FreezeChange & { readonly frozen: boolean },
): Promise<boolean | undefined> {
  return db.transaction(async tx => {
    // The strongest lock, and the only one of this transaction: it waits for every payment that has read the account, and no payment waits for
    // anything else that this transaction has.
    const text = `select frozen_at from gw_users where account_id = $1${rowLock(tx, 'for update')}`
    const [row] = await rows(tx, text, [accountId])
    if (!row) return undefined
    if ((row['frozen_at'] !== null) === frozen) return false
    await rows(tx, 'update gw_users set frozen_at = $2 where account_id = $1', [
      accountId,
      frozen ? now : null,
    ])
    await appendProductAudit(tx, {
      accountId,
      by: { by: 'operator', keyId: null, sessionId: null },
      action: frozen ? 'account.freeze' : 'account.unfreeze',
      target: accountId,
      at: now,
    })
    const command = frozen ? 'accounts freeze' : 'accounts unfreeze'
    const detail = [frozen ? 'frozen' : 'unfrozen', note].filter(Boolean).join(' ')
    await operatorActions.record(tx, { at: now, command, accountId, detail })
    return true
  })
}
