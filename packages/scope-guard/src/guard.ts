import { randomUUID } from 'node:crypto'
import { allow, type Session, type Verdict } from '@gatewright/kernel'
import { challenges, type Challenges } from './challenge.ts'
import { deny, type GuardDenial, type HeaderFields } from './codes.ts'
import { rateLimitFields, type LimitState } from './limits/fields.ts'
import { createLimits, type RuleLimits } from './limits/limits.ts'
import { checkedOptions, type CheckedOptions, type GuardOptions } from './options.ts'
import { loadChain } from './policy/chain.ts'
import type { Block, Chain } from './policy/compile.ts'
import { checkedRule, lackingScopes, type Rule } from './rule.ts'
import { spendBlock, type Spend, type SpendHold } from './spend.ts'
import { tokenCache, type TokenCache } from './token/cache.ts'
import { pinnedKeys } from './token/keys.ts'
import { verifyToken } from './token/verify.ts'

/** What the guard looks at. Nothing here is trusted. */
export interface GuardFacts {
  /** The `Authorization` field as received. */
  readonly authorization: string | undefined
  /** The client's IP address, as the host established it. */
  readonly address?: string
}

/** What a decision was made from, redacted: ids, scopes and counts, no credential. */
export interface Evidence {
  readonly operation: string
  readonly accountId: string
  readonly keyId: string
  readonly sessionId: string
  readonly policyIds: readonly string[]
  readonly limits: readonly LimitState[]
}

/** A request that may pass. */
export interface Access {
  readonly session: Session
  readonly rule: Rule
  readonly evidence: Evidence
  /** Header fields for the answer: `RateLimit-Policy` and `RateLimit`. */
  readonly headers: HeaderFields
}

/** A session that was proven, with what is computed from it once. */
interface Proven {
  readonly session: Session
  readonly scopes: ReadonlySet<string>
  readonly chain: Chain
}

/** Decides per request. Made once per process by `createGuard`. */
export interface Guard {
  /**
   * Whether a request may pass: credential, session, surface, scope, limits, policy, in this order; the first
   * "no" wins. A cached token costs no I/O. Limits count after the credential is proven. A session is good
   * while `now < expiresAt`. Faults: `ERR_KEYS_UNAVAILABLE`, `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`.
   */
  check(facts: GuardFacts, rule: Rule): Promise<Verdict<Access, GuardDenial>>
  /** The same decision for a session that was proven in another way, such as by its API key itself. */
  authorize(session: Session, facts: GuardFacts, rule: Rule): Promise<Verdict<Access, GuardDenial>>
  /** Checks a rule at start-up. Throws a `TypeError`; `check` would throw the same at the first request. */
  prepare(rule: Rule): void
  /** Whether the policies of a session that passed `check` let it move this much money. */
  reserve(access: Access, spend: Spend): Promise<Verdict<SpendHold, GuardDenial>>
}

const BEARER = 'bearer '

/** Makes a guard. Throws a `TypeError` for a wrong option. */
export function createGuard(options: GuardOptions): Guard {
  const checked = checkedOptions(options)
  const refuse = challenges(checked.realm)
  const cache: TokenCache<Proven> = tokenCache(checked.cacheEntries, checked.cacheBytes)
  const prove = prover(checked, refuse, cache)
  const limitsOf = createLimits(checked.limits)
  const prepared = new WeakMap<Rule, RuleLimits>()
  const chains = new WeakMap<Session, Chain>()

  const prepare = (rule: Rule): RuleLimits => {
    let limits = prepared.get(rule)
    if (!limits) {
      limits = limitsOf(checkedRule(rule))
      prepared.set(rule, limits)
    }
    return limits
  }

  const decide = async (proven: Proven, rule: Rule): Promise<Verdict<Access, GuardDenial>> => {
    const limits = prepare(rule)
    const { session, scopes, chain } = proven
    if (checked.clock.now() >= session.expiresAt) return refuse.expired()
    if (rule.surface !== undefined && rule.surface !== session.surface) return wrongSurface(rule.surface)
    const lacking = lackingScopes(rule, scopes)
    if (lacking !== undefined) return refuse.scope(neededScopes(rule), lacking)
    const { refused, states } = await limits.take(session)
    if (refused) return rateLimited(refused, rateLimitFields(limits.policy, states))
    const block = chain.block({ operation: rule.operation, now: checked.clock.now() })
    if (block) return blocked(block)
    chains.set(session, chain)
    return allow(accessOf(session, rule, states, limits.policy))
  }

  return {
    async check(facts, rule) {
      const proven = await prove(facts.authorization)
      return 'ok' in proven ? proven : decide(proven, rule)
    },
    async authorize(session, _facts, rule) {
      const chain = await loadChain(session.policyIds, checked.policies)
      return decide({ session, scopes: new Set(session.scopes), chain }, rule)
    },
    prepare,
    async reserve(access, spend) {
      const chain = chains.get(access.session)
      if (!chain) throw new TypeError('reserve takes the access of a check of this guard')
      if (!Number.isSafeInteger(spend.amountCents) || spend.amountCents < 0) {
        throw new TypeError('amountCents must be an integer of at least 0')
      }
      const block = spendBlock(chain, spend)
      if (block) return blocked(block)
      const { accountId } = access.session
      return allow({ id: randomUUID(), accountId, amountCents: spend.amountCents })
    },
  }
}

/** Turns an `Authorization` field into a proven session, from the cache where it can. */
function prover(
  options: CheckedOptions,
  refuse: Challenges,
  cache: TokenCache<Proven>,
): (authorization: string | undefined) => Promise<Proven | GuardDenial> {
  const keys = pinnedKeys(options.keys, options.rsaAlgorithm)
  return async authorization => {
    if (typeof authorization !== 'string') return refuse.missing()
    if (authorization.slice(0, BEARER.length).toLowerCase() !== BEARER) return refuse.missing()
    const token = authorization.slice(BEARER.length)
    if (token.length > options.maxTokenBytes) return refuse.invalid('token too long')
    const now = options.clock.now()
    const cached = cache.get(token, now)
    if (cached) return cached
    const session = await verifyToken(token, keys, options, options.clock, refuse)
    if ('ok' in session) return session
    const chain = await loadChain(session.policyIds, options.policies)
    const proven = { session, scopes: new Set(session.scopes), chain }
    cache.set(token, proven, now + options.cacheSeconds * 1000)
    return proven
  }
}

function neededScopes(rule: Rule): string {
  return [...(rule.allOf ?? []), ...(rule.anyOf ?? [])].join(' ')
}

function wrongSurface(surface: string): GuardDenial {
  return {
    ...deny('wrong_surface', `This operation takes a ${surface} session`, { details: { surface } }),
    headers: [],
  }
}

function rateLimited(state: LimitState, headers: HeaderFields): GuardDenial {
  const { name, resetSeconds } = state
  return {
    ...deny('rate_limited', 'Too many requests', {
      retryAfterSeconds: resetSeconds,
      details: { limit: name },
    }),
    headers: [...headers, ['Retry-After', String(resetSeconds)]],
  }
}

function blocked(block: Block): GuardDenial {
  return {
    ...deny('policy_blocked', `Blocked by the policy rule ${block.rule}`, { details: block }),
    headers: [],
  }
}

function accessOf(session: Session, rule: Rule, limits: readonly LimitState[], policy: string): Access {
  const { accountId, keyId, sessionId, policyIds } = session
  return {
    session,
    rule,
    evidence: { operation: rule.operation, accountId, keyId, sessionId, policyIds, limits },
    headers: policy === '' ? [] : rateLimitFields(policy, limits),
  }
}
