import type { Rule } from '@gatewright/kernel'
import { checkedRule, unknownName } from '@gatewright/kernel/internal'
import type { Gate } from './gate-types.ts'
import { checkedNoEffectStatuses } from './response/no-effect.ts'
import { runTransaction, type TransactionalDependencies } from './idempotency/transactional.ts'
import type { AccessLike, Credential, Credentials, GuardPort, SpendGuardPort } from './ports.ts'
import { checkedSchemas, hasOldFields } from './request/input.ts'
import { authenticator, sessionCredential } from './route/credentials.ts'
import type {
  GuardedCall,
  IdempotentOptions,
  OpenCall,
  RouteOptions,
  TransactionalOptions,
  WriteOptions,
} from './handler-types.ts'
import type { GateContext } from './route/request-context.ts'
import { makeRoute, type RouteDependencies } from './route/route.ts'
import type { CompleteRoute, Route } from './route/steps.ts'
import type { AnyGateOptions } from './settings.ts'

/** A gate, whatever its ports are. */
export type AnyGate = Gate<string, AccessLike, unknown, { readonly own: Credential<unknown> }>

/** Makes the functions of a gate that declare operations. Throws a `TypeError` if a port lacks a required function. */
export function declarations(
  gate: GateContext,
  options: AnyGateOptions,
): Pick<AnyGate, 'open' | 'guarded' | 'guardedBy' | 'idempotent' | 'transactional'> {
  assertPorts(options)
  const { guard, scopes, idempotency, transactions, spendStorage, approvalStorage } = options
  const { accountOf = ({ session }: AccessLike) => session.accountId } = options
  const { settings } = gate
  const session = guard ? { session: sessionCredential(guard) } : {}
  const credentials = { ...session, ...options.credentials } as Credentials
  const spending = guard && countsSpends(guard) ? guard : undefined

  const assertOneOperation = operationIds()

  const openDependencies = (operation: string, route: RouteOptions = {}): RouteDependencies => ({
    gate,
    operation,
    admit: route.admit?.bind(route),
    schemas: checkedSchemas(operation, route),
  })
  const credentialDependencies = (
    names: readonly string[],
    rule: Rule,
    route?: object,
  ): RouteDependencies => {
    checkedRule(rule)
    assertScopes(rule, scopes)
    const authenticate = authenticator(credentials, names, rule)
    const dependencies = { ...openDependencies(rule.operation, route), authenticate }
    // Last, so that the id of a wrong declaration can be declared again.
    assertOneOperation(rule)
    return dependencies
  }
  const sessionDependencies = (rule: Rule, route?: object): RouteDependencies => {
    if (!guard) throw new TypeError(`${rule.operation}: a guarded operation needs the option guard`)
    return credentialDependencies(['session'], rule, route)
  }
  const writeDependencies = ({ operation, spends }: Rule, route: WriteOptions<AccessLike>) => ({
    operation,
    hasOldFields: hasOldFields(gate.aliases, operation),
    accountOf,
    comparesQuery: comparesQuery(operation, route),
    spending,
    reserves: spends !== undefined,
  })
  return {
    open: (operation, route) => makeRoute(openDependencies(operation, route as object)),
    guarded: (rule, route) => makeRoute(sessionDependencies(rule, route)),
    guardedBy: (names, rule, route) =>
      makeRoute(credentialDependencies(typeof names === 'string' ? [names] : names, rule, route)),
    idempotent<C extends OpenCall>(rule: Rule, route: object = {}): Route<C> {
      const { prepare, amount, noEffectStatuses } = route as IdempotentOptions<AccessLike>
      if (!idempotency)
        throw new TypeError(`${rule.operation}: an idempotent operation needs the option idempotency`)
      if (prepare) assertFunctions('idempotency of a route with prepare', idempotency, ['release'])
      if (amount) assertFunctions('idempotency of a route with amount', idempotency, ['release'])
      assertAmount(rule, amount)
      assertSpends(rule, spending !== undefined && spending.countsSpends !== false)
      const recording: RouteDependencies['recording'] = {
        settings,
        idempotency,
        prepare,
        amount,
        noEffectStatuses: checkedNoEffectStatuses(rule.operation, noEffectStatuses),
        ...writeDependencies(rule, route),
      }
      return makeRoute({ ...sessionDependencies(rule, route), recording })
    },
    transactional<C extends OpenCall>(rule: Rule, handler: unknown, route: object = {}): CompleteRoute<C> {
      const { operation } = rule
      const { prepare, idempotencyKey = 'required' } = route as TransactionalOptions<AccessLike>
      if (!transactions)
        throw new TypeError(`${operation}: a transactional operation needs the option transactions`)
      assertTransactionalOptions(operation, route)
      assertKeyChoice(rule, idempotencyKey)
      if (idempotencyKey !== 'required')
        assertFunctions('transactions of a route without a key', transactions, ['runUnrecorded'])
      assertSpends(rule, spending !== undefined && spendStorage !== undefined)
      assertApprovals(rule, spending, approvalStorage)
      if (typeof handler !== 'function')
        throw new TypeError(`${operation}: the handler must be a function, got ${typeof handler}`)
      const dependencies: TransactionalDependencies = {
        ...writeDependencies(rule, route),
        dialect: settings.dialect,
        hasOwnRenderer: settings.hasOwnRenderer,
        transactions,
        idempotencyKey,
        spendStorage,
        approvalStorage,
        prepare,
        handler: handler as TransactionalDependencies['handler'],
      }
      return {
        ...makeRoute<C>(sessionDependencies(rule, route)),
        run: (call, decision) =>
          runTransaction(dependencies, call as unknown as GuardedCall<AccessLike>, decision),
      }
    },
  }
}

/**
 * Makes the function that refuses two operations with one id: policies, limits and idempotency records would take them for one.
 * Several routes of one operation share a rule object, or have rules of different surfaces.
 */
function operationIds(): (rule: Rule) => void {
  const declared = new Map<string, Rule>()
  return rule => {
    const { operation, surface } = rule
    const id = JSON.stringify([operation, surface])
    const other = declared.get(id) ?? rule
    declared.set(id, other)
    if (other !== rule)
      throw new TypeError(
        `${operation} is declared twice on this gate, by ${JSON.stringify(other)} and by ${JSON.stringify(rule)}: give each operation an id of its own; if both are routes of one operation, pass the same rule object`,
      )
  }
}

/**
 * Whether the query is part of a write: as the route's `compareQuery` says, else true for a route with a query schema.
 * Undefined: the mount decides.
 */
function comparesQuery(
  operation: string,
  { compareQuery, query }: WriteOptions<AccessLike>,
): boolean | undefined {
  if (compareQuery !== undefined && typeof compareQuery !== 'boolean')
    throw new TypeError(
      `${operation}: compareQuery must be true or false, got ${JSON.stringify(compareQuery)}`,
    )
  return compareQuery ?? (query ? true : undefined)
}

function assertPorts({ aliases, guard, idempotency, transactions, scopes }: AnyGateOptions): void {
  assertFunctions('aliases', aliases, ['resolve'])
  assertFunctions('guard', guard, ['check', 'prepare'])
  assertFunctions('idempotency', idempotency, ['begin', 'complete'])
  assertFunctions('transactions', transactions, ['run'])
  if ((idempotency || transactions) && !guard)
    throw new TypeError(
      'idempotency needs a guard, because a replay must be authorized too: give the option guard',
    )
  assertFunctions('scopes', scopes, ['has'])
}

function assertFunctions(name: string, port: object | undefined, functions: readonly string[]): void {
  if (port === undefined) return
  const missing = functions.find(
    required => typeof (port as Record<string, unknown> | null)?.[required] !== 'function',
  )
  if (missing) throw new TypeError(`${name} must have the function ${missing}`)
}

function assertScopes(rule: Rule, scopes: AnyGateOptions['scopes']): void {
  for (const scope of [...(rule.allOf ?? []), ...(rule.anyOf ?? [])]) {
    if (scopes && !scopes.names.includes(scope))
      throw new TypeError(
        `${rule.operation}: the scope ${scope} ${unknownName('scope', scope, scopes.names)} (the option scopes lists them)`,
      )
  }
}

function assertTransactionalOptions(operation: string, route: object): void {
  if ('noEffectStatuses' in route)
    throw new TypeError(
      `${operation}: noEffectStatuses is an option of idempotent: a transactional write is rolled back by any error`,
    )
  if ('amount' in route)
    throw new TypeError(
      `${operation}: amount is an option of idempotent: a transactional write calls reserve of its context`,
    )
}

function assertKeyChoice({ operation, spends }: Rule, idempotencyKey: unknown): void {
  if (!['required', 'optional', 'none'].includes(idempotencyKey as string))
    throw new TypeError(
      `${operation}: idempotencyKey must be "required", "optional" or "none", got ${JSON.stringify(idempotencyKey)}`,
    )
  if (spends !== undefined && idempotencyKey !== 'required')
    throw new TypeError(
      `${operation}: its rule spends, so idempotencyKey must be "required": a repeat without a key would spend twice`,
    )
}

function assertAmount({ operation, spends }: Rule, amount: unknown): void {
  if (amount === undefined) return
  if (typeof amount !== 'function')
    throw new TypeError(`${operation}: amount must be a function of the call, got ${typeof amount}`)
  if (spends === undefined)
    throw new TypeError(`${operation}: amount needs a rule that spends: give the rule spends: 'spend'`)
}

/** A write whose rule spends must be counted. */
function assertSpends({ operation, spends }: Rule, isCounted: boolean): void {
  if (spends !== undefined && !isCounted)
    throw new TypeError(
      `${operation}: its rule spends, and nothing counts it: give createGuard the option spend, such as memorySpends(), and with a transactional operation give the gate spendStorage; a guard of your own needs reserve, settle, release and permits`,
    )
}

/** The use of an approval must commit with the write that it lets happen. */
function assertApprovals(
  { operation, spends }: Rule,
  guard: SpendGuardPort | undefined,
  approvalStorage: unknown,
): void {
  if (spends !== undefined && (guard?.approvals === undefined) !== (approvalStorage === undefined))
    throw new TypeError(
      `${operation}: its rule spends, so the guard needs the option approvals and the gate approvalStorage, such as tx => postgresApprovals(tx), or neither`,
    )
}

/** Whether a guard also counts what its sessions spend. */
function countsSpends(guard: GuardPort<AccessLike>): guard is SpendGuardPort {
  const { reserve, settle, release, permits } = guard as Partial<SpendGuardPort>
  return [reserve, settle, release, permits].every(method => typeof method === 'function')
}
