import { allow, type EpochMs, type Session, type Verdict } from '@gatewright/kernel'
import {
  accessOf,
  blocked,
  evidenceOf,
  rateLimited,
  wrongSurface,
  type Access,
  type GuardFacts,
  type Proven,
} from './access.ts'
import { challenges } from './challenge.ts'
import type { GuardDenial, HeaderFields } from './codes.ts'
import { rateLimitFields } from './limits/fields.ts'
import type { LimitsTaken } from './limits/limiter.ts'
import { createLimits, type RuleLimits } from './limits/limits.ts'
import { checkedOptions, type GuardOptions } from './options.ts'
import { chainLoader } from './policy/chain.ts'
import type { Chain } from './policy/compile.ts'
import type { Block } from './policy/gates.ts'
import { createProver, isDenial } from './prove.ts'
import { createRevocation } from './revocation/revocation.ts'
import { checkedRule, lackingScopes, neededScopes, type Rule } from './rule.ts'
import { countCall, reserveSpend, settleSpend, simulateSpend } from './spend.ts'
import type { SpendStorage } from './storage/port.ts'
import { withinTime } from './timeout.ts'
import type { Guard } from './verbs.ts'

const NOTHING_TAKEN: LimitsTaken = { refused: undefined, states: [] }
const NO_FIELDS: HeaderFields = []

/** Makes a guard. Throws a `TypeError` for a wrong option. */
export function createGuard(options: GuardOptions): Guard {
  const checked = checkedOptions(options)
  const { clock, rates, storeTimeoutMs: timeoutMs } = checked
  const refuse = challenges(checked.realm)
  const chainOf = chainLoader(checked.policies, timeoutMs)
  const prove = createProver(checked, refuse, chainOf)
  const revocation = createRevocation(checked.revocation, clock, timeoutMs)
  const limitsOf = createLimits(checked.limits)
  const prepared = new WeakMap<Rule, RuleLimits>()
  const spending = (storage: SpendStorage | undefined = checked.spend) => ({
    storage,
    rates,
    clock,
    timeoutMs,
  })

  const prepare = (rule: Rule): RuleLimits => {
    let limits = prepared.get(rule)
    if (!limits) prepared.set(rule, (limits = limitsOf(checkedRule(rule))))
    return limits
  }

  /** Everything about the credential and its scopes, once revocation is known. */
  const judge = ({ session, scopes }: Proven, rule: Rule): GuardDenial | undefined => {
    if (rule.surface !== undefined && rule.surface !== session.surface) return wrongSurface(rule.surface)
    const lacking = lackingScopes(rule, scopes)
    return lacking === undefined ? undefined : refuse.scope(neededScopes(rule), lacking)
  }

  const gate = (chain: Chain, address: string | undefined, rule: Rule, now: EpochMs): Block | undefined =>
    chain.block({ operation: rule.operation, now, address, cardSecrets: rule.cardSecrets === true })

  // On every request's path: it waits only where there is something to wait for.
  const decide = async (
    proven: Proven,
    { address }: GuardFacts,
    rule: Rule,
    now: EpochMs,
  ): Promise<Verdict<Access, GuardDenial>> => {
    const limits = prepare(rule)
    const { session, chain } = proven
    let { states } = NOTHING_TAKEN
    const no = (denial: GuardDenial): GuardDenial => ({
      ...denial,
      evidence: evidenceOf(proven, rule, states),
    })
    if (now >= session.expiresAt) return no(refuse.expired())
    const stands = revocation.stands(session)
    if (stands !== true && !(await stands)) return no(refuse.invalid('revoked'))
    const refused = judge(proven, rule)
    if (refused) return no(refused)
    let headers = NO_FIELDS
    const taking = limits.take(session, address)
    if (taking) {
      const taken = await taking
      states = taken.states
      headers = rateLimitFields(limits.policy, states)
      if (taken.refused) return no(rateLimited(taken.refused, headers))
    }
    const shut = gate(chain, address, rule, now)
    if (shut) return no(blocked(shut))
    const access = accessOf(proven, rule, states, headers)
    if (!chain.countsCalls || rule.spends !== undefined) return allow(access)
    const full = await countCall(access, spending())
    return full ? no(blocked(full)) : allow(access)
  }

  const stand = (found: Proven | GuardDenial, now: EpochMs): ReturnType<Guard['authenticate']> => {
    if (isDenial(found)) return found
    const { session } = found
    if (now >= session.expiresAt) return refuse.expired()
    const judged = (stands: boolean) => (stands ? allow(session) : refuse.invalid('revoked'))
    const stands = revocation.stands(session)
    return typeof stands === 'boolean' ? judged(stands) : stands.then(judged)
  }

  const provenOf = async (session: Session): Promise<Proven> => ({
    session,
    scopes: new Set(session.scopes),
    chain: await chainOf(session.policyIds),
  })

  return {
    check(facts, rule) {
      const now = clock.now()
      const found = prove(facts.authorization, facts.address, now)
      if (found instanceof Promise) {
        return found.then(later => (isDenial(later) ? later : decide(later, facts, rule, clock.now())))
      }
      return isDenial(found) ? Promise.resolve(found) : decide(found, facts, rule, now)
    },
    authenticate({ authorization, address }) {
      const now = clock.now()
      const found = prove(authorization, address, now)
      return found instanceof Promise ? found.then(later => stand(later, clock.now())) : stand(found, now)
    },
    authorize: async (session, facts, rule) => decide(await provenOf(session), facts, rule, clock.now()),
    prepare,
    reserve: (access, spend, storage) => reserveSpend(access, spend, spending(storage)),
    async settle(hold, actual, storage = checked.spend) {
      if (!hold.held) return 'settled'
      return settleSpend(hold, storageOf(storage), timeoutMs, actual)
    },
    async release(hold, storage = checked.spend) {
      if (!hold.held) return true
      const from = storageOf(storage)
      return withinTime('spend store', timeoutMs, () => from.release(hold.accountId, hold.id))
    },
    async simulate(session, facts, rule, spend) {
      prepare(rule)
      const proven = await provenOf(session)
      const now = clock.now()
      if (now >= session.expiresAt) return refuse.expired()
      if (!(await revocation.stands(session))) return refuse.invalid('revoked')
      const refused = judge(proven, rule)
      if (refused) return refused
      const shut = gate(proven.chain, facts.address, rule, now)
      if (shut) return blocked(shut)
      const access = accessOf(proven, rule, NOTHING_TAKEN.states, NO_FIELDS)
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
