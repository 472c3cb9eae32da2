import type { Session, Verdict } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import type { HostDenial } from '../codes.ts'

/**
 * The onboarding requirements: identity check and agreements, which an account must complete before it may create cards or
 * move money. Reading, locking and canceling have no requirements.
 */
export interface Requirements {
  /**
   * Decides from the current rows of the database, without a cache. In a transaction, the account stays as it is until the transaction ends:
   * a lock of the account waits for it, and is seen by what comes later. Denials: on the user surface 403 `policy_blocked` with the rule
   * `account_locked`, `kyc_required` or `agreements_required`; on the partner surface 409 `invalid_state`, whose message begins with
   * `account locked`, `kyc required` or `agreements required`.
   */
  check(
    db: SqlQueries,
    session: Pick<Session, 'accountId' | 'surface'>,
  ): Promise<Verdict<undefined, HostDenial>>
  /**
   * Checks in the same way only whether the account is locked, for writes that need neither an identity check nor accepted agreements. The host
   * calls it for what `requires: 'unlocked'`.
   */
  checkLock(
    db: SqlQueries,
    session: Pick<Session, 'accountId' | 'surface'>,
  ): Promise<Verdict<undefined, HostDenial>>
}
