import type { Rule, Session, Verdict, Clock, HeaderField } from '@gatewright/kernel'
import { checkedRule } from '@gatewright/kernel/internal'
import type { Access, GuardFacts, SpendAccess } from './access.ts'
import { createAuthenticate } from './authenticate.ts'
import { createChallenges } from './challenges.ts'
import {
  admitSession,
  authenticateSession,
  authorizeSession,
  checkRequest,
  recheckAccess,
  type GuardDependencies,
} from './check.ts'
import type { GuardDenial, SpendDenial } from './codes.ts'
import { PROOF_ALGORITHMS } from './dpop/options.ts'
import { checkedOptions, type GuardOptions } from './options.ts'
import { checkPolicies } from './check-policies.ts'
import { chainLoader, type PolicyDocument } from './policies/chain-loader.ts'
import type { CheckedLimit } from './rate-limits/options.ts'
import { createLimits, type RuleLimits } from './rate-limits/rule-limits.ts'
import { createRevocation } from './revocation/revocation.ts'
import { explain } from './explain/explain.ts'
import type { Explanation } from './explain/explanation.ts'
import { simulate } from './simulate.ts'
import { alertGiver } from './spend/alerts.ts'
import { permitsAmount, type Amount } from './spend/amount.ts'
import { approvalsOf, requestApproval, type Approvals } from './spend/approvals.ts'
import { capStates, type CapState } from './spend/cap-states.ts'
import { reserveSpend, type Spend } from './spend/reserve.ts'
import { releaseSpend, settleSpend, type SpendHold } from './spend/settle.ts'
import type { ApprovalStorage } from './storage/approvals-port.ts'
import type { SettleOutcome, SpendStorage } from './storage/port.ts'

/**
 * Decides whether requests may proceed. Made once per process by `createGuard`. A function that returns a promise
 * throws nothing synchronously: a wrong argument rejects the promise.
 */
export interface Guard {
  /**
   * Decides whether a request may proceed. It checks credential, session, revocation, surface, scope, limits and policy, in
   * this order; the first check that fails is the denial. A cached token with in-process limits costs no I/O. Limits count
   * after the credential is verified. A DPoP proof is claimed after the policy: a request that is denied before does not use it
   * up. A session is valid while `now < expiresAt`. Of simultaneous requests for the last point of a limit, one passes. Faults:
   * `ERR_KEYS_UNAVAILABLE`, `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`.
   */
  check(facts: GuardFacts, rule: Rule): Promise<Verdict<Access, GuardDenial>>

  /**
   * Decides whether a credential belongs to a valid session, without a rule. No limit counts the request. It claims a DPoP proof;
   * `check` with the same `facts` object does not claim it again.
   * Denials: `unauthorized`, `session_expired`. Faults as `check`.
   */
  authenticate(facts: GuardFacts): Promise<Verdict<Session, GuardDenial>>

  /**
   * Counts a request of a session under the rate limits of a rule, and checks nothing else: for a request that belongs to no operation, after
   * `authenticate`. Returns the `RateLimit` fields. Denial: `rate_limited`. Faults: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`.
   */
  admit(
    session: Session,
    facts: Pick<GuardFacts, 'address'>,
    rule: Rule,
  ): Promise<Verdict<readonly HeaderField[], GuardDenial>>

  /** Decides as `check` does for a session that the caller has verified in another way, such as by its API key. */
  authorize(session: Session, facts: GuardFacts, rule: Rule): Promise<Verdict<Access, GuardDenial>>

  /**
   * Decides whether a request that `check` or `authorize` accepted may still proceed, for example after its body arrived.
   * Checks expiry, revocation and policy again. No limit counts the request, and no DPoP proof is claimed. I/O: that of the
   * revocation mode. Denials: `session_expired`, `unauthorized`, `policy_blocked`. Fault: `ERR_STORE_UNAVAILABLE`.
   */
  recheck(access: Access, facts: Pick<GuardFacts, 'address'>): Promise<Verdict<Access, GuardDenial>>

  /**
   * Decides whether an account may do an operation under given policies, without a session: for an operation that
   * another caller's request causes later, such as a payment by card under the policies of the key that made the card. The policies are
   * checked as in `check`, except `allowedIps`; scopes, revocation and rate limits are not, and no store is read.
   * Reserve with the result. Denial: `policy_blocked`. Fault: `ERR_STORE_REPLY` for a document that is not a policy.
   */
  checkPolicies(
    accountId: string,
    policies: readonly PolicyDocument[],
    rule: Rule,
  ): Verdict<SpendAccess, SpendDenial>

  /** Checks a rule at start-up. Throws a `TypeError` (see `checkedRule`); `check` would reject with it at the first request. */
  prepare(rule: Rule): void

  /** The proofs that the option `dpop` accepts, for the metadata of the API (RFC 9728). Undefined without the option. */
  readonly dpop: { readonly algorithms: readonly string[]; readonly isRequired: boolean } | undefined

  /** Whether the guard has the option `spend`, so that caps can count. */
  readonly countsSpends: boolean

  /**
   * Reserves an amount under every cap of the session's policies, or under none of them, before the operation takes
   * effect. Settled and held amounts together stay within each cap under any parallelism. The hold counts until
   * `settle` or `release`, also when its owner crashes. `storage` replaces the configured store, for a reservation in
   * the caller's own transaction, and `approvals` that of the option `approvals`. Denials: `policy_blocked`; `invalid_request` with its
   * field for a malformed amount or currency; `approval_required` and `approval_denied` under `approveAboveCents`. Faults: `ERR_STORE_FULL`; `ERR_HOLD_CONFLICT` if `holdId` is in
   * use for other amounts or caps; `ERR_STORE_UNAVAILABLE` and `ERR_STORE_REPLY`, after which the hold may
   * exist: repeat the reservation with the same `holdId`, or release the hold.
   */
  reserve(
    access: SpendAccess,
    spend: Spend,
    storage?: SpendStorage,
    approvals?: ApprovalStorage,
  ): Promise<Verdict<SpendHold, SpendDenial>>

  /**
   * Asks for the approval of a spend that `reserve` has denied with `approval_required`, and returns the denial for the client, which
   * says where it is approved. Call it after the transaction of `reserve` has been rolled back. Repeats find the same approval. Denials: those
   * of `reserve`. Throws a `TypeError` without the option `approvals`, and for a spend without `approval`.
   */
  requestApproval(access: SpendAccess, spend: Spend): Promise<SpendDenial>

  /** Decides approvals for the owner of an account. Undefined without the option `approvals`. */
  readonly approvals: Approvals | undefined

  /**
   * Decides whether an amount is within every limit on a single operation: `maxAuthAmountCents`, `limits[]` with the window
   * `operation`, and, under a money cap, a known rate for its currency. Use it before a stored response is replayed. It holds
   * nothing and reads no counter of a day, a month or a total, since the replayed write may itself have filled that counter. No
   * I/O except the rate source. Denials as `reserve`. Faults: those of the rate source.
   */
  permits(access: SpendAccess, amount: Amount): Promise<Verdict<undefined, SpendDenial>>

  /**
   * Ends a hold and counts `actual` as spent, in the currency of the reservation; by default the whole amount. `exceeds`:
   * `actual` is more than was held, and the hold remains. `gone`: the hold was ended before.
   */
  settle(hold: SpendHold, actual?: number, storage?: SpendStorage): Promise<SettleOutcome>

  /** Ends a hold and releases its whole amount. False: the hold was ended before. */
  release(hold: SpendHold, storage?: SpendStorage): Promise<boolean>

  /**
   * Lists every cap of a session's policies with its current usage. Of caps that share a counter, only the lowest is listed.
   * Reads the counters in one call and changes nothing; another call may have used them by the time the caller looks. Faults:
   * `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`.
   */
  caps(session: Session): Promise<readonly CapState[]>

  /**
   * Returns what `authorize` and `reserve` would decide now. It changes no limit, counter or hold. Rate limits are not part of
   * the simulation.
   */
  simulate(
    session: Session,
    facts: GuardFacts,
    rule: Rule,
    spend?: Spend,
  ): Promise<Verdict<Access, GuardDenial | SpendDenial>>

  /**
   * Explains what `simulate` would return now, rule by rule of every policy of the session: what passes, what blocks, and how
   * much of each cap is left. The decision and the rules come from one reading of the counters, also where others use them
   * meanwhile. Without `spend`, the caps of an operation that moves money are listed and not applied. It changes no limit, counter
   * or hold. Faults: those of `simulate` and, also for a call that is denied before its amount is checked, those of the spend
   * store and of the rate source.
   */
  explain(session: Session, facts: GuardFacts, rule: Rule, spend?: Spend): Promise<Explanation>

  /** Loads the revocations. Call it before serving. Rejects with a fault. */
  start(): Promise<void>

  /** Ends polling and subscriptions. */
  stop(): Promise<void>
}

/** Makes a guard. Throws a `TypeError` for a wrong option. */
export function createGuard(options: GuardOptions): Guard {
  const dependencies = dependenciesOf(options)
  const { revocation, spending } = dependencies
  return {
    check: (facts, rule) => checkRequest(dependencies, facts, rule),
    authenticate: facts => authenticateSession(dependencies, facts),
    admit: (session, facts, rule) => admitSession(dependencies, session, facts, rule),
    authorize: (session, facts, rule) => authorizeSession(dependencies, session, facts, rule),
    recheck: (access, facts) => recheckAccess(dependencies, access, facts),
    checkPolicies: (accountId, policies, rule) => checkPolicies(dependencies, accountId, policies, rule),
    prepare: rule => void dependencies.prepare(rule),
    dpop: dependencies.dpop && { algorithms: PROOF_ALGORITHMS, isRequired: dependencies.dpop.isRequired },
    countsSpends: spending.storage !== undefined,
    reserve: (access, spend, storage = spending.storage, approvals) =>
      reserveSpend(access, spend, { ...spending, storage }, approvals),
    requestApproval: (access, spend) => requestApproval(access, spend, spending),
    approvals: spending.approvals && approvalsOf(spending.approvals, spending),
    permits: (access, amount) => permitsAmount(access, amount, spending.rates),
    settle: (hold, actual, storage = spending.storage) => settleSpend(hold, { ...spending, storage }, actual),
    release: (hold, storage = spending.storage) => releaseSpend(hold, { ...spending, storage }),
    caps: async session => capStates((await dependencies.chains.load(session)).chain, session, spending),
    simulate: (session, facts, rule, spend) => simulate(dependencies, { session, facts, rule, spend }),
    explain: (session, facts, rule, spend) => explain(dependencies, { session, facts, rule, spend }),
    start: () => revocation.start(),
    stop: () => revocation.stop(),
  }
}

function dependenciesOf(options: GuardOptions): GuardDependencies {
  const checked = checkedOptions(options)
  const { clock, rates, spend: storage, storeTimeoutMs: timeoutMs } = checked
  const giveAlerts = checked.onAlert && alertGiver(checked.onAlert, storage)
  const challenges = createChallenges(checked.dpop)
  const chains = chainLoader(checked, {
    clock,
    bytes: checked.policyCacheBytes,
    keptMs: 2000 * checked.cacheSeconds,
  })
  return {
    clock,
    challenges,
    dpop: checked.dpop,
    authenticate: createAuthenticate(checked, challenges, chains),
    chains,
    revocation: createRevocation(checked.revocation, clock, timeoutMs),
    prepare: preparedRules(checked.limits, clock),
    spending: { storage, rates, clock, timeoutMs, approvals: checked.approvals, giveAlerts },
    claimed: new WeakSet(),
  }
}

/** Checks each rule and finds its limits once: at `prepare`, or when the rule is first used. */
function preparedRules(limits: readonly CheckedLimit[], clock: Clock): GuardDependencies['prepare'] {
  const limitsOf = createLimits(limits, clock)
  const prepared = new WeakMap<Rule, RuleLimits>()
  return rule => {
    const known = prepared.get(rule)
    if (known) return known
    const made = limitsOf(checkedRule(rule))
    prepared.set(rule, made)
    return made
  }
}
