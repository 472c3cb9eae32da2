import type { Rule, Session, Verdict } from '@gatewright/kernel'
import type { Access, GuardFacts } from './access.ts'
import type { Amount } from './amount.ts'
import type { GuardDenial, SpendDenial } from './codes.ts'
import type { Spend, SpendHold } from './spend.ts'
import type { Settled, SpendStorage } from './storage/port.ts'

/** Decides per request. Verbs that answer by promise throw nothing outside it: mistakes of the caller reject too. Made once per process by `createGuard`. */
export interface Guard {
  /**
   * Whether a request may pass: credential, session, revocation, surface, scope, limits, policy, in this order;
   * the first "no" wins. A cached token with in-process limits costs no I/O. Limits count after the credential
   * is proven. A session is good while `now < expiresAt`. Of simultaneous requests at the last point of a limit
   * one passes. Faults: `ERR_KEYS_UNAVAILABLE`, `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`.
   */
  check(facts: GuardFacts, rule: Rule): Promise<Verdict<Access, GuardDenial>>

  /**
   * Whether a credential proves a session that still stands, without any rule: nothing is counted.
   * Denials: `unauthorized`, `session_expired`. Faults as `check`.
   */
  authenticate(facts: GuardFacts): Promise<Verdict<Session, GuardDenial>>

  /** The same decision as `check` for a session that was proven in another way, such as by its API key itself. */
  authorize(session: Session, facts: GuardFacts, rule: Rule): Promise<Verdict<Access, GuardDenial>>

  /** Checks a rule at start-up. Throws a `TypeError` (see `checkRule`); `check` would reject with it at the first request. */
  prepare(rule: Rule): void

  /**
   * Reserves an amount under every cap of the session's policies, or none of them, before the operation takes
   * effect. Under any parallelism settled + held stays within each cap. The hold counts until `settle` or
   * `release`, also when its owner crashes. `storage` replaces the configured store, for a reservation in the
   * caller's own transaction. Denials: `policy_blocked`; `invalid_request` with its field for a malformed
   * amount or currency, whatever a request's body held. Faults: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY` (the
   * hold may stand: repeat with the same `holdId`, or release it) and `ERR_STORE_FULL`.
   */
  reserve(access: Access, spend: Spend, storage?: SpendStorage): Promise<Verdict<SpendHold, SpendDenial>>

  /**
   * Whether an amount passes every limit on one operation alone: `maxAuthAmountCents`, `limits[]` with the window
   * `operation`, and no other currency without a rate under a money cap. For an earlier answer that is given out again:
   * nothing is held, and counters of a day, a month or in all are not asked, since that very write may have filled them.
   * No I/O but the rate source. Denials as `reserve`. Faults: those of the rate source.
   */
  permits(access: Access, amount: Amount): Promise<Verdict<undefined, SpendDenial>>

  /**
   * Ends a hold with what was really spent, in the currency asked for; by default all of it. `exceeds`: more
   * than was held, and the hold stands. `gone`: it was ended before.
   */
  settle(hold: SpendHold, actual?: number, storage?: SpendStorage): Promise<Settled>

  /** Ends a hold and gives everything back. False: it was ended before. */
  release(hold: SpendHold, storage?: SpendStorage): Promise<boolean>

  /**
   * What `authorize` and `reserve` would decide now, without an effect: no limit, counter or hold changes, and
   * rate limits are not asked.
   */
  simulate(
    session: Session,
    facts: GuardFacts,
    rule: Rule,
    spend?: Spend,
  ): Promise<Verdict<Access, GuardDenial | SpendDenial>>

  /** Loads revocations, so that the first request is judged by them. Call before serving. Rejects with a fault. */
  start(): Promise<void>

  /** Ends polling and subscriptions. */
  stop(): Promise<void>
}
