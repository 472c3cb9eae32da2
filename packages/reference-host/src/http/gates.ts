import type { Session, Verdict } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import type { HostDenial } from './codes.ts'

/** What an account must have passed before it may create or change certain things. Reading, locking and canceling are free. */
export interface Gates {
  /**
   * Decides from what the database says now. Denials: on the user surface 403 `policy_blocked` with the rule `account_locked`,
   * `kyc_required` or `agreements_required`; on the partner surface 409 `invalid_state`, whose message begins with the same words.
   */
  check(
    db: SqlQueries,
    session: Pick<Session, 'accountId' | 'surface'>,
  ): Promise<Verdict<undefined, HostDenial>>
}
