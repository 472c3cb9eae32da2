import { allow, type Session, type Verdict } from '@gatewright/kernel'
import {
  accessOf,
  blocked,
  rateLimited,
  wrongSurface,
  type Access,
  type GuardFacts,
  type Proven,
} from './access.ts'
import { challenges } from './challenge.ts'
import type { GuardDenial } from './codes.ts'
import { rateLimitFields, type LimitState } from './limits/fields.ts'
import { createLimits, type RuleLimits } from './limits/limits.ts'
import { checkedOptions, type GuardOptions } from './options.ts'
import { loadChain } from './policy/chain.ts'
import { createProver, isDenial } from './prove.ts'
import { createRevocation } from './revocation/revocation.ts'
import { checkedRule, lackingScopes, neededScopes, type Rule } from './rule.ts'
import { countCall, reserveSpend, settleSpend, simulateSpend, type Spend, type SpendHold } from './spend.ts'
import type { Settled, SpendStorage } from './storage/port.ts'

/** Decides per request. Made once per process by `createGuard`. */
export interface Guard {
  /**
   * Whether a request may pass: credential, session, revocation, surface, scope, limits, policy, in this order;
   * the first "no" wins. A cached token with in-process limits costs no I/O. Limits count after the credential
   * is proven. A session is good while `now < expiresAt`. Of simultaneous requests at the last point of a limit
   * one passes. Faults: `ERR_KEYS_UNAVAILABLE`, `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`.
   */
  check(facts: GuardFacts, rule: Rule): Promise<Verdict<Access, GuardDenial>>

  /** The same decision for a session that was proven in another way, such as by its API key itself. */
  authorize(session: Session, facts: GuardFacts, rule: Rule): Promise<Verdict<Access, GuardDenial>>

  /** Checks a rule at start-up. Throws a `TypeError`; `check` would throw the same at the first request. */
  prepare(rule: Rule): void

  /**
   * Reserves an amount under every cap of the session's policies, or none of them, before the operation takes
   * effect. Under any parallelism settled + held stays within each cap. The hold counts until `settle` or
   * `release`, also when its owner crashes. `storage` replaces the configured store, for a reservation in the
   * caller's own transaction. Denial: `policy_blocked`. Faults: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY` (the
   * hold may stand: repeat with the same `holdId`, or release it) and `ERR_STORE_FULL`.
   */
  reserve(access: Access, spend: Spend, storage?: SpendStorage): Promise<Verdict<SpendHold, GuardDenial>>

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
  ): Promise<Verdict<Access, GuardDenial>>

  /** Loads revocations, so that the first request is judged by them. Call before serving. Rejects with a fault. */
  start(): Promise<void>

  /** Ends polling and subscriptions. */
  stop(): Promise<void>
}

/** Makes a guard. Throws a `TypeError` for a wrong option. */
export function createGuard(options: GuardOptions): Guard {
  const checked = checkedOptions(options)
  const { clock, policies, rates } = checked
  const refuse = challenges(checked.realm)
  const prove = createProver(checked, refuse)
  const revocation = createRevocation(checked.revocation, clock)
  const limitsOf = createLimits(checked.limits)
  const prepared = new WeakMap<Rule, RuleLimits>()
  const spending = (storage: SpendStorage | undefined = checked.spend) => ({ storage, rates, clock })

  const prepare = (rule: Rule): RuleLimits => {
    let limits = prepared.get(rule)
    if (!limits) prepared.set(rule, (limits = limitsOf(checkedRule(rule))))
    return limits
  }

  /** Everything that needs no limit and no counter. */
  const judge = async ({ session, scopes }: Proven, rule: Rule): Promise<GuardDenial | undefined> => {
    if (clock.now() >= session.expiresAt) return refuse.expired()
    const stands = revocation.stands(session)
    if (stands !== true && !(await stands)) return refuse.invalid('revoked')
    if (rule.surface !== undefined && rule.surface !== session.surface) return wrongSurface(rule.surface)
    const lacking = lackingScopes(rule, scopes)
    return lacking === undefined ? undefined : refuse.scope(neededScopes(rule), lacking)
  }

  const gate = ({ chain }: Proven, { address }: GuardFacts, rule: Rule): GuardDenial | undefined => {
    const { operation, cardSecrets = false } = rule
    const block = chain.block({ operation, now: clock.now(), address, cardSecrets })
    return block && blocked(block)
  }

  const decide = async (
    proven: Proven,
    facts: GuardFacts,
    rule: Rule,
  ): Promise<Verdict<Access, GuardDenial>> => {
    const limits = prepare(rule)
    const refused = await judge(proven, rule)
    if (refused) return refused
    const { refused: over, states } = await limits.take(proven.session, facts.address)
    const headers = states.length === 0 ? [] : rateLimitFields(limits.policy, states)
    if (over) return rateLimited(over, headers)
    const shut = gate(proven, facts, rule)
    if (shut) return shut
    const access = accessOf(proven, rule, states, headers)
    const full = rule.spends === undefined ? await countCall(access, spending()) : undefined
    return full ? blocked(full) : allow(access)
  }

  const provenOf = async (session: Session): Promise<Proven> => ({
    session,
    scopes: new Set(session.scopes),
    chain: await loadChain(session.policyIds, policies),
  })

  return {
    async check(facts, rule) {
      let found = prove(facts.authorization, facts.address)
      if (found instanceof Promise) found = await found
      return isDenial(found) ? found : decide(found, facts, rule)
    },
    authorize: async (session, facts, rule) => decide(await provenOf(session), facts, rule),
    prepare,
    reserve: (access, spend, storage) => reserveSpend(access, spend, spending(storage)),
    async settle(hold, actual, storage = checked.spend) {
      if (!hold.held) return 'settled'
      return settleSpend(hold, storageOf(storage), actual)
    },
    async release(hold, storage = checked.spend) {
      return !hold.held || storageOf(storage).release(hold.accountId, hold.id)
    },
    async simulate(session, facts, rule, spend) {
      prepare(rule)
      const proven = await provenOf(session)
      const refused = (await judge(proven, rule)) ?? gate(proven, facts, rule)
      if (refused) return refused
      const none: LimitState[] = []
      const access = accessOf(proven, rule, none, [])
      const answer = await simulateSpend(access, spend, spending())
      return answer.ok ? allow(access) : answer
    },
    start: () => revocation.start(),
    stop: () => revocation.stop(),
  }
}

function storageOf(storage: SpendStorage | undefined): SpendStorage {
  if (!storage) throw new TypeError('a hold is ended in the store that it was reserved in: give spend')
  return storage
}
