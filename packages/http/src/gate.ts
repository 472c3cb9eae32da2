import { checkRule, knownOptions, type ScopeCatalogue } from '@gatewright/kernel'
import { authenticator, sessionCredential } from './credentials.ts'
import { conclude, concludeAs, enter, type Exchange, type Stage, type Works } from './exchange.ts'
import type {
  ByCredential,
  Credentials,
  Gate,
  GateOptions,
  InTransaction,
  OpenGate,
  OpenGateOptions,
  SpendGate,
  SpendGateOptions,
  WriteGate,
  WriteGateOptions,
} from './gate-types.ts'
import { checkedSchemas } from './input.ts'
import { checkedOptions, GATE_OPTIONS } from './options.ts'
import type { AccessLike, Credential, GuardedRule, GuardPart, SpendGuardPart } from './parts.ts'
import type { Recording } from './record.ts'
import { makeRoute, type RouteParts } from './route.ts'
import type { CompleteRoute, GuardedCall, OpenCall, Route, RouteOptions } from './stages.ts'
import { runTransaction, type TransactionalParts } from './transactional.ts'

type Options = OpenGateOptions | WriteGateOptions<string, AccessLike>
type AnyGate = SpendGate<string, AccessLike, unknown> &
  ByCredential<string, AccessLike, { readonly own: Credential<unknown> }> &
  InTransaction<string, AccessLike, unknown, unknown>

/**
 * Composes the parts in the one right order: old names, credential, limits, body, idempotency record, handler. Throws a
 * `TypeError` for a part of the wrong shape, for idempotency without a guard (a replay must be authorised), and for a wrong option.
 */
export function gate<
  S extends string,
  A extends AccessLike,
  H,
  K extends Credentials = Credentials,
  Tx = never,
>(
  options: SpendGateOptions<S, A, H, K, Tx>,
): SpendGate<S, A, H> & ByCredential<S, A, K> & InTransaction<S, A, H, Tx>
export function gate<S extends string, A extends AccessLike, K extends Credentials = Credentials, Tx = never>(
  options: WriteGateOptions<S, A, K, Tx>,
): WriteGate<S, A> & ByCredential<S, A, K> & InTransaction<S, A, unknown, Tx>
export function gate<
  S extends string,
  A extends AccessLike,
  H,
  K extends Credentials = Credentials,
  Tx = never,
>(
  options: Omit<GateOptions<S, A, K, Tx>, 'guard'> & { readonly guard: SpendGuardPart<A, H> },
): Gate<S, A> & ByCredential<S, A, K> & InTransaction<S, A, H, Tx>
export function gate<S extends string, A extends AccessLike, K extends Credentials = Credentials, Tx = never>(
  options: GateOptions<S, A, K, Tx>,
): Gate<S, A> & ByCredential<S, A, K> & InTransaction<S, A, unknown, Tx>
export function gate<K extends Credentials = Credentials>(
  options?: OpenGateOptions<K>,
): OpenGate & ByCredential<string, never, K>
export function gate(options: object = {}): never {
  // The overloads say which verbs a gate of these options has; here it has all, and those without their part throw.
  return gateOf(options) as never
}

function gateOf(options: Options): AnyGate {
  const works: Works = {
    settings: checkedOptions(knownOptions('gate', options, GATE_OPTIONS)),
    aliases: options.aliases,
    draining: false,
  }
  // On the request itself: a weak map of live requests makes every garbage collection dearer.
  const held = Symbol('gate')
  return {
    ...declarations(works, checkedParts(options)),
    settings: works.settings,
    conclude: (exchange, outcome) => conclude(works, exchange, outcome),
    sent: (exchange, status) => concludeAs(works, exchange, { status, headers: [] }),
    drain() {
      works.draining = true
    },
    enter(request, facts) {
      const entered = request as { [held]?: Stage<Exchange> }
      return (entered[held] ??= enter(works, facts()))
    },
    adopt(copy, original) {
      const { [held]: stage } = original as { [held]?: Stage<Exchange> }
      if (stage) Object.assign(copy, { [held]: stage })
    },
  }
}

/** The parts of a gate, each of the right shape. */
interface Parts {
  readonly transactions: TransactionalParts['transactions'] | undefined
  readonly spendStorage: TransactionalParts['spendStorage']
  readonly guard: GuardPart<AccessLike> | undefined
  readonly scopes: ScopeCatalogue<string> | undefined
  readonly idempotency: WriteGateOptions<string, AccessLike>['idempotency'] | undefined
  readonly credentials: Readonly<Record<string, Credential<never>>>
  readonly accountOf: (access: AccessLike) => string
}

function checkedParts(options: Options): Parts {
  const { aliases, guard, idempotency, transactions } = options
  checkPart('aliases', aliases, ['resolve'])
  checkPart('guard', guard, ['check', 'prepare'])
  checkPart('idempotency', idempotency, ['begin', 'complete'])
  checkPart('transactions', transactions, ['run'])
  if ((idempotency || transactions) && !guard)
    throw new TypeError('idempotency needs a guard: a replay must be authorised too')
  const given = options as Partial<WriteGateOptions<string, AccessLike>>
  checkPart('scopes', given.scopes, ['has'])
  if (guard && !given.scopes)
    throw new TypeError('scopes must be the catalogue of scopes (scopeCatalogue), not undefined')
  const session = guard ? { session: sessionCredential(guard) } : {}
  return {
    ...{ guard, idempotency, transactions, spendStorage: given.spendStorage, scopes: given.scopes },
    credentials: { ...session, ...options.credentials } as Parts['credentials'],
    accountOf: given.accountOf ?? (({ session }) => session.accountId),
  }
}

type Verbs = Pick<AnyGate, 'open' | 'guarded' | 'guardedBy' | 'idempotent' | 'transactional'>

/** The verbs that declare operations. */
function declarations(works: Works, parts: Parts): Verbs {
  const { guard, idempotency, transactions, accountOf, spendStorage } = parts
  const { settings } = works
  const spending = guard && counts(guard) ? guard : undefined
  const partsOf = (operation: string, options: RouteOptions = {}): RouteParts => {
    const schemas = checkedSchemas(operation, options)
    return { works, admit: options.admit?.bind(options), schemas }
  }
  const guardedBy = (names: readonly string[], rule: GuardedRule, options?: object): RouteParts => {
    checkRule(rule)
    checkScopes(rule, parts)
    const authenticate = authenticator(parts.credentials, names, rule)
    return { ...partsOf(rule.operation, options), authenticate }
  }
  const guarded = (rule: GuardedRule, options?: object): RouteParts => {
    if (!guard) throw new TypeError(`${rule.operation}: a guarded operation needs a guard`)
    return guardedBy(['session'], rule, options)
  }
  const about = ({ operation, spends }: GuardedRule) => ({
    operation,
    accountOf,
    spending,
    reserves: spends !== undefined,
  })
  return {
    open: (operation, options) => makeRoute(operation, partsOf(operation, options as object)),
    guarded: (rule, options) => makeRoute(rule.operation, guarded(rule, options)),
    guardedBy: (names, rule, options) =>
      makeRoute(rule.operation, guardedBy(typeof names === 'string' ? [names] : names, rule, options)),
    idempotent<C extends OpenCall>(rule: GuardedRule, given?: object): Route<C> {
      const options: { readonly prepare?: Recording['prepare'] } = given ?? {}
      const { operation } = rule
      if (!idempotency) throw new TypeError(`${operation}: an idempotent operation needs idempotency`)
      const { prepare } = options
      if (prepare) checkPart('idempotency of a route with prepare', idempotency, ['release'])
      const recording = { ...about(rule), settings, idempotency, prepare }
      return makeRoute(operation, { ...guarded(rule, options), recording })
    },
    transactional<C extends OpenCall>(rule: GuardedRule, handler: unknown, given?: object): CompleteRoute<C> {
      const options: { readonly prepare?: TransactionalParts['prepare'] } = given ?? {}
      const { operation } = rule
      if (!transactions) throw new TypeError(`${operation}: a transactional operation needs transactions`)
      if (typeof handler !== 'function') throw new TypeError(`${operation}: transactional needs its handler`)
      const run = {
        ...{
          ...about(rule),
          rendersValues: settings.rendersValues,
          transactions,
          spendStorage,
          prepare: options.prepare,
        },
        handler: handler as TransactionalParts['handler'],
      }
      const route = makeRoute<C>(operation, guarded(rule, options))
      return { ...route, run: call => runTransaction(run, call as unknown as GuardedCall<AccessLike>) }
    },
  }
}

function checkScopes(rule: GuardedRule, { scopes }: Parts): void {
  for (const scope of [...(rule.allOf ?? []), ...(rule.anyOf ?? [])]) {
    if (scopes && !scopes.names.includes(scope))
      throw new TypeError(`${rule.operation}: ${scope} is not in the catalogue of scopes`)
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
