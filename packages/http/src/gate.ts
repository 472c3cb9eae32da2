import { checkRule, type ScopeCatalogue } from '@gatewright/kernel'
import { enter } from './enter.ts'
import type { RequestFacts } from './facts.ts'
import { checkedOptions, type CommonOptions, type Settings } from './options.ts'
import type {
  AccessLike,
  AliasPart,
  GuardedRule,
  GuardPart,
  IdempotencyPart,
  SpendGuardPart,
} from './parts.ts'
import { makeRoute, type Works } from './route.ts'
import type {
  Entered,
  GuardedCall,
  IdempotentCall,
  OpenCall,
  Prepare,
  Route,
  SpendingCall,
  Stage,
} from './stages.ts'

/** Options of a gate without a guard: it can only serve open operations. */
export interface OpenGateOptions extends CommonOptions {
  readonly aliases?: AliasPart
  readonly guard?: undefined
  readonly idempotency?: undefined
}

/** Options of a gate with a guard. */
export interface GateOptions<S extends string, A extends AccessLike> extends CommonOptions {
  readonly aliases?: AliasPart
  readonly guard: GuardPart<A>
  /** The team's own scopes: a rule that names another one does not compile. */
  readonly scopes: ScopeCatalogue<S>
  readonly idempotency?: undefined
}

/** Options of a gate with a guard and idempotent writes. */
export interface WriteGateOptions<S extends string, A extends AccessLike>
  extends Omit<GateOptions<S, A>, 'idempotency'> {
  readonly idempotency: IdempotencyPart
  /** Who owns an idempotency key. Default: the session's account. Never the session or the API key. */
  readonly accountOf?: (access: A) => string
}

/** Options of a gate whose guard counts what is spent. */
export interface SpendGateOptions<S extends string, A extends AccessLike, H>
  extends Omit<WriteGateOptions<S, A>, 'guard'> {
  readonly guard: SpendGuardPart<A, H>
}

/** Declares operations; a binding mounts them. */
export interface OpenGate {
  /** An operation that anyone may call. */
  open(operation: string): Route<OpenCall>
  /** For bindings. */
  readonly settings: Settings
  /** For bindings: the request in canonical names. `request` is the framework's own object: asked once for each. */
  enter(request: object, facts: () => RequestFacts): Stage<Entered>
  /** For bindings: `copy` is the same request as `original`, which has been entered. */
  adopt(copy: object, original: object): void
}

/** A gate that can also guard. */
export interface Gate<S extends string, A extends AccessLike> extends OpenGate {
  /** An operation that takes a session. */
  guarded(rule: GuardedRule<S>): Route<GuardedCall<A>>
}

/** A gate that can also make writes idempotent. A replay is authorised again before it is answered. */
export interface WriteGate<S extends string, A extends AccessLike> extends Gate<S, A> {
  /** A write that takes a session and an `Idempotency-Key`. */
  idempotent<P = undefined>(rule: GuardedRule<S>, prepare?: Prepare<A, P>): Route<IdempotentCall<A, P>>
}

/**
 * A gate whose spending writes reserve. A replay then passes the limits of the session that asks on one operation, by the
 * amount that the first run has reserved; the counters of a day, a month or in all are not asked again.
 */
export interface SpendGate<S extends string, A extends AccessLike, H> extends WriteGate<S, A> {
  /** A write whose rule spends: its call has `reserve`. */
  idempotent<P = undefined>(
    rule: GuardedRule<S> & { readonly spends: 'spend' | 'withdrawal' },
    prepare?: Prepare<A, P>,
  ): Route<SpendingCall<A, H, P>>
  idempotent<P = undefined>(rule: GuardedRule<S>, prepare?: Prepare<A, P>): Route<IdempotentCall<A, P>>
}

/**
 * Composes the parts in the one right order: old names, guard, body, idempotency record, handler. Throws a
 * `TypeError` for a part of the wrong shape, for idempotency without a guard (a replay must be authorised), and for a wrong option.
 */
export function gate<S extends string, A extends AccessLike, H>(
  options: SpendGateOptions<S, A, H>,
): SpendGate<S, A, H>
export function gate<S extends string, A extends AccessLike>(options: WriteGateOptions<S, A>): WriteGate<S, A>
export function gate<S extends string, A extends AccessLike>(options: GateOptions<S, A>): Gate<S, A>
export function gate(options?: OpenGateOptions): OpenGate
export function gate(
  options: OpenGateOptions | GateOptions<string, AccessLike> | WriteGateOptions<string, AccessLike> = {},
): SpendGate<string, AccessLike, unknown> {
  const settings = checkedOptions(options)
  const { aliases, guard, idempotency } = options
  checkPart('aliases', aliases, ['resolve'])
  checkPart('guard', guard, ['check', 'prepare'])
  checkPart('idempotency', idempotency, ['begin', 'complete'])
  if (idempotency && !guard) throw new TypeError('idempotency needs a guard: a replay must be authorised too')
  const scopes: ScopeCatalogue<string> | undefined = 'scopes' in options ? options.scopes : undefined
  checkPart('scopes', scopes, ['has'])
  if (guard && !scopes)
    throw new TypeError('scopes must be the catalogue of scopes (scopeCatalogue), not undefined')
  const accountOf =
    ('accountOf' in options ? options.accountOf : undefined) ??
    ((access: AccessLike) => access.session.accountId)
  const entered = new WeakMap<object, Stage<Entered>>()
  const spending = guard && counts(guard) ? guard : undefined

  const guarded = (rule: GuardedRule): Pick<Works, 'check'> => {
    if (!guard || !scopes) throw new TypeError(`${rule.operation}: a guarded operation needs a guard`)
    checkRule(rule)
    for (const scope of [...(rule.allOf ?? []), ...(rule.anyOf ?? [])]) {
      if (!scopes.names.includes(scope))
        throw new TypeError(`${rule.operation}: ${scope} is not in the catalogue of scopes`)
    }
    guard.prepare(rule)
    return {
      check: ({ header, address }) => {
        const authorization = header('authorization')
        return guard.check(address === '' ? { authorization } : { authorization, address }, rule)
      },
    }
  }

  return {
    settings,
    enter(request, facts) {
      let stage = entered.get(request)
      if (!stage) {
        stage = enter(settings, aliases, facts())
        entered.set(request, stage)
      }
      return stage
    },
    adopt(copy, original) {
      const stage = entered.get(original)
      if (stage) entered.set(copy, stage)
    },
    open: operation => makeRoute(operation, { settings }),
    guarded: rule => makeRoute(rule.operation, { settings, ...guarded(rule) }),
    idempotent<C extends OpenCall>(rule: GuardedRule, prepare?: Prepare<AccessLike, unknown>): Route<C> {
      const { operation } = rule
      if (!idempotency) throw new TypeError(`${operation}: an idempotent operation needs idempotency`)
      if (prepare) checkPart('idempotency of a route with prepare', idempotency, ['release'])
      const reserves = rule.spends !== undefined
      const recording = { settings, operation, idempotency, accountOf, spending, reserves, prepare }
      return makeRoute(operation, { settings, ...guarded(rule), recording })
    },
  }
}

function counts(guard: GuardPart<AccessLike>): guard is SpendGuardPart<AccessLike, unknown> {
  const { reserve, release, permits } = guard as Partial<SpendGuardPart<AccessLike, unknown>>
  return [reserve, release, permits].every(verb => typeof verb === 'function')
}

function checkPart(name: string, part: object | undefined, verbs: readonly string[]): void {
  if (part === undefined) return
  const missing = verbs.find(verb => typeof (part as Record<string, unknown> | null)?.[verb] !== 'function')
  if (missing) throw new TypeError(`${name} must have the function ${missing}`)
}
