import { gate, type Gate, type OpenCall } from '@gatewright/http'
import type { Route, StandardSchema } from '@gatewright/http/internal'
import { createIdempotency, createOnce, type Idempotency, type Once } from '@gatewright/idempotency-store'
import { allow, scopeCatalogue, type Rule, type Verdict } from '@gatewright/kernel'
import { createGuard, sessionReader, type Access, type Guard, type SpendHold } from '@gatewright/scope-guard'
import { DEFAULT_LIMITS, type SessionPolicies } from '@gatewright/scope-guard/internal'
import { readRequestOf, openRequestOf, writeRequestOf } from './requests.ts'
import type { OpenRequest, ReadRequest, WriteRequest } from './requests.ts'
import {
  CHANGING_METHODS,
  READING_METHODS,
  openOperation,
  readOperation,
  writeOperation,
  type OpenOperation,
  type ReadOperation,
  type WriteOperation,
} from './operations.ts'
import type { GatewrightOptions } from './options.ts'
import { policySource } from './policies.ts'
import { compareAfterStart, comparingFirst, notingRules, spendingChecks } from './spending-checks.ts'
import { warnOfOtherProcesses } from './stores/other-processes.ts'

/** The parts that a `gatewright` is made of, for what it does not offer itself. */
export interface Parts {
  /** The guard of `@gatewright/scope-guard`. */
  readonly guard: Guard
  /** The records of `@gatewright/idempotency-store`. */
  readonly idempotency: Idempotency
  /**
   * Runs a job of a queue, a cron job or a function once, over the same records:
   * `gw.once({ operation: 'invoices.send', account, key: message.id }, ({ effectId }) => ...)`.
   */
  readonly once: Once
  /** The gate of `@gatewright/http`, which declares operations. */
  readonly gate: Gate<string, Access, SpendHold>
}

/** An operation that a framework mounts, and what its handler gets. */
export interface Operation<T> {
  readonly route: Route<OpenCall>
  requestOf(call: OpenCall): T
}

/** Declares the operations of one server, for the binding of its framework. */
export interface Declarations {
  /**
   * Throws a `TypeError` for a read that is mounted for a method which changes something, and does not name it in `methods`, and for a
   * write that is mounted for a method which changes nothing.
   */
  assertMethod(operation: string, method: string): void
  open<B, Q, P>(operation: string, options: OpenOperation<B, Q, P>): Operation<OpenRequest<B, Q, P>>
  read<Q, P>(operation: string, options: ReadOperation<string, Q, P>): Operation<ReadRequest<Q, P>>
  write<B, Q, P>(
    operation: string,
    options: WriteOperation<string, B, Q, P>,
    isExisting: boolean,
  ): Operation<WriteRequest<B, Q, P>>
}

/** How operations are declared. */
interface DeclarationOptions {
  /**
   * Accepts an operation that is declared again with an equal rule, as by a development server that loads a changed module again.
   * Default false: a gate rejects two operations with one id.
   */
  readonly acceptsRepeats?: boolean
}

/** Composes the parts from checked options. Throws a `TypeError` for a wrong one. */
export function compose(
  options: GatewrightOptions,
  { acceptsRepeats = false }: DeclarationOptions = {},
): { parts: Parts; declare: Declarations } {
  const { store, clock, scopes } = options
  const checks = spendingChecks(hasPolicies(options), (key, text) => gated.settings.hints.mistake(key, text))
  const policies = policySource(options)
  // Next.js loads routes when they are first requested, so what is declared is never known.
  const compared = policies && !acceptsRepeats ? comparingFirst(policies, checks) : policies
  const guard = guardOf(options, compared)
  const idempotency = createIdempotency({
    ...options.idempotency,
    storage: store.idempotency,
    ...(clock ? { clock } : {}),
  })
  const gated: Parts['gate'] = gate({
    ...options.gate,
    guard: notingRules(guard, checks),
    idempotency,
    ...(scopes ? { scopes: scopeCatalogue(scopes) } : {}),
  })
  if (!acceptsRepeats) compareAfterStart(options, checks)
  const parts: Parts = { guard, idempotency, once: createOnce(idempotency), gate: gated }
  return { parts, declare: declarations(gated, options, acceptsRepeats) }
}

/** Whether any policy may apply. Those that tokens name are read by the guard. */
const hasPolicies = ({ policy, policies, guard }: GatewrightOptions): boolean =>
  policy !== undefined || policies !== undefined || guard?.policies !== undefined

function guardOf(options: GatewrightOptions, sessionPolicies: SessionPolicies | undefined): Guard {
  const { issuer, audience, provider, store, clock, approvals, limits = DEFAULT_LIMITS } = options
  return createGuard({
    ...(provider !== undefined ? { readSession: sessionReader({ preset: provider }) } : {}),
    ...options.guard,
    issuer,
    audience,
    limits: limits.map(limit => (store.limits ? { store: store.limits, ...limit } : limit)),
    ...(store.spends ? { spend: store.spends } : {}),
    ...(approvals && store.approvals ? { approvals: { ...approvals, store: store.approvals } } : {}),
    ...(sessionPolicies ? { sessionPolicies } : {}),
    ...(clock ? { clock } : {}),
  })
}

const ADMITTED = allow([] as const)

/** Accepts every JSON object. A body that is not one is denied before. */
const ANY_OBJECT: StandardSchema = {
  '~standard': { version: 1, vendor: 'gatewright', validate: value => ({ value }) },
}

function declarations(
  gate: Parts['gate'],
  { store, issuer, audience, limits = [] }: GatewrightOptions,
  acceptsRepeats: boolean,
): Declarations {
  const rules = new Map<string, Rule>()
  /** The equal rule that was declared before, if there is one and repeats are accepted: a gate takes the same object for the same operation. */
  const known = (rule: Rule): Rule => {
    if (!acceptsRepeats) return rule
    const text = JSON.stringify(rule)
    const before = rules.get(text) ?? rule
    rules.set(text, before)
    return before
  }
  const classes = limits.flatMap(limit => limit.classes ?? [])
  const assertLimited = ({ operation, limit }: Rule): void => {
    if (limit === undefined || classes.includes(limit)) return
    throw new TypeError(
      `${operation}: limit "${limit}" is the class of no rate limit, so nothing limits it: give one of the limits of gatewright classes: ['${limit}'], or leave limit out`,
    )
  }
  const reads = new Map<string, readonly string[]>()
  const writes = new Set<string>()
  const assertMethod = (operation: string, method: string): void => {
    if (writes.has(operation) && READING_METHODS.includes(method))
      throw new TypeError(
        `${operation}: a write is mounted for ${method}, which must change nothing: its body is not read, and clients and proxies may send it again by themselves. Mount it for POST, or declare it with read or protectRead`,
      )
    if (!reads.get(operation)?.includes(method)) return
    throw new TypeError(
      `${operation}: a read is mounted for ${method}, which changes something: no key is compared and nothing is counted. Mount it for GET, declare it with write or protectWrite, or say that it changes nothing: methods: ['${method}']`,
    )
  }
  const admitting = (operation: string) => ({
    async admit({ facts: { method } }: Pick<OpenCall, 'facts'>): Promise<Verdict<readonly []>> {
      assertMethod(operation, method)
      return ADMITTED
    },
  })
  return {
    assertMethod,
    open: (operation, options) => ({
      route: gate.open(operation, openOperation(operation, options)),
      requestOf: openRequestOf as never,
    }),
    read(operation, options) {
      const { rule, route, methods = [] } = readOperation(operation, options)
      assertLimited(rule)
      const refused = CHANGING_METHODS.filter(method => !methods.includes(method))
      reads.set(operation, refused)
      return {
        route: gate.guarded(known(rule), { ...route, ...admitting(operation) }),
        requestOf: readRequestOf as never,
      }
    },
    write(operation, options, isExisting) {
      const { rule, route, amount } = writeOperation(operation, options as WriteOperation)
      assertLimited(rule)
      if (store.onlyProcess) warnOfOtherProcesses({ issuer, audience })
      if (rule.spends && !store.spends)
        throw new TypeError(
          `${operation}: an operation that spends needs a store with spends, such as memoryStore() or postgresStore(pool)`,
        )
      const body = route.body ?? (isExisting && !amount ? undefined : ANY_OBJECT)
      writes.add(operation)
      const declared = gate.idempotent(known(rule), {
        ...route,
        ...admitting(operation),
        ...(body ? { body } : {}),
        ...(amount ? { amount: ({ input }: OpenCall) => amount(input.body as never) } : {}),
      } as never)
      return { route: declared, requestOf: writeRequestOf(operation) as never }
    },
  }
}
