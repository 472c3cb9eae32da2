import { allow, type EpochMs, type Session } from '@gatewright/kernel'
import { accessOf, blocked, evidenceOf, rateLimited, wrongSurface, type Proven } from './access.ts'
import { permitsAmount } from './amount.ts'
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
import type { Decision, Guard } from './verbs.ts'

const NOTHING_TAKEN: LimitsTaken = { refused: undefined, states: [] }
const NO_FIELDS: HeaderFields = []

/** One request whose credential is proven. */
interface Asked {
  readonly proven: Proven
  readonly rule: Rule
  readonly limits: RuleLimits
  readonly address: string | undefined
  readonly now: EpochMs
}

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
  const judge = (proven: Proven, rule: Rule): GuardDenial | undefined => {
    if (proven.met === rule) return undefined
    const { session, scopes } = proven
    if (rule.surface !== undefined && rule.surface !== session.surface) return wrongSurface(rule.surface)
    const lacking = lackingScopes(rule, scopes)
    if (lacking !== undefined) return refuse.scope(neededScopes(rule), lacking)
    proven.met = rule
    return undefined
  }

  const gate = (chain: Chain, address: string | undefined, rule: Rule, now: EpochMs): Block | undefined =>
    chain.block({ operation: rule.operation, now, address, cardSecrets: rule.cardSecrets === true })

  const no = ({ proven, rule }: Asked, denial: GuardDenial, states = NOTHING_TAKEN.states): GuardDenial => ({
    ...denial,
    evidence: evidenceOf(proven, rule, states),
  })

  // The steps of every request: a promise only where there is something to wait for, and at most one for a hit.
  const decide = (asked: Asked): Decision => {
    const { session } = asked.proven
    if (asked.now >= session.expiresAt) return no(asked, refuse.expired())
    const stands = revocation.stands(session)
    return typeof stands === 'boolean' ? admit(asked, stands) : stands.then(later => admit(asked, later))
  }

  const admit = (asked: Asked, stands: boolean): Decision => {
    if (!stands) return no(asked, refuse.invalid('revoked'))
    const refused = judge(asked.proven, asked.rule)
    if (refused) return no(asked, refused)
    return asked.limits.take(asked, conclude) ?? conclude(asked, NOTHING_TAKEN)
  }

  const conclude = (asked: Asked, { refused, states }: LimitsTaken): Decision => {
    const { proven, rule, limits, address, now } = asked
    const headers = states.length === 0 ? NO_FIELDS : rateLimitFields(limits.policy, states)
    if (refused) return no(asked, rateLimited(refused, headers), states)
    const shut = gate(proven.chain, address, rule, now)
    if (shut) return no(asked, blocked(shut), states)
    const access = accessOf(proven, rule, states, headers)
    if (!proven.chain.countsCalls || rule.spends !== undefined) return allow(access)
    return countCall(access, spending()).then(full =>
      full ? no(asked, blocked(full), states) : allow(access),
    )
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
    until: session.expiresAt,
    keptUntil: session.expiresAt,
    met: undefined,
  })

  return {
    check(facts, rule) {
      try {
        const { authorization, address } = facts
        const limits = prepare(rule)
        const now = clock.now()
        const found = prove(authorization, address, now)
        if (!(found instanceof Promise)) {
          return isDenial(found) ? found : decide({ proven: found, rule, limits, address, now })
        }
        return found.then(later =>
          isDenial(later) ? later : decide({ proven: later, rule, limits, address, now: clock.now() }),
        )
      } catch (error) {
        return Promise.reject(error)
      }
    },
    authenticate({ authorization, address }) {
      const now = clock.now()
      const found = prove(authorization, address, now)
      return found instanceof Promise ? found.then(later => stand(later, clock.now())) : stand(found, now)
    },
    async authorize(session, { address }, rule) {
      const limits = prepare(rule)
      const proven = await provenOf(session)
      return decide({ proven, rule, limits, address, now: clock.now() })
    },
    prepare,
    reserve: (access, spend, storage) => reserveSpend(access, spend, spending(storage)),
    permits: (access, amount) => permitsAmount(access, amount, rates),
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
