import { gate, type Gate, type OpenCall } from '@gatewright/http'
import type { Route, StandardSchema } from '@gatewright/http/internal'
import { createIdempotency, createOnce, type Idempotency, type Once } from '@gatewright/idempotency-store'
import { scopeCatalogue, type Rule } from '@gatewright/kernel'
import { createGuard, sessionReader, type Access, type Guard, type SpendHold } from '@gatewright/scope-guard'
import { DEFAULT_LIMITS } from '@gatewright/scope-guard/internal'
import { readRequestOf, openRequestOf, writeRequestOf } from './requests.ts'
import type { OpenRequest, ReadRequest, WriteRequest } from './requests.ts'
import {
  openOperation,
  readOperation,
  writeOperation,
  type OpenOperation,
  type ReadOperation,
  type WriteOperation,
} from './operations.ts'
import type { GatewrightOptions } from './options.ts'
import { policySource } from './policies.ts'

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
  const guard = guardOf(options)
  const { store, clock, scopes } = options
  const idempotency = createIdempotency({
    ...options.idempotency,
    storage: store.idempotency,
    ...(clock ? { clock } : {}),
  })
  const parts: Parts = {
    guard,
    idempotency,
    once: createOnce(idempotency),
    gate: gate({
      ...options.gate,
      guard,
      idempotency,
      ...(scopes ? { scopes: scopeCatalogue(scopes) } : {}),
    }),
  }
  return { parts, declare: declarations(parts.gate, store.spends !== undefined, acceptsRepeats) }
}

function guardOf(options: GatewrightOptions): Guard {
  const { issuer, audience, provider, store, clock, limits = DEFAULT_LIMITS } = options
  const sessionPolicies = policySource(options)
  return createGuard({
    ...(provider !== undefined ? { readSession: sessionReader({ preset: provider }) } : {}),
    ...options.guard,
    issuer,
    audience,
    limits: limits.map(limit => (store.limits ? { store: store.limits, ...limit } : limit)),
    ...(store.spends ? { spend: store.spends } : {}),
    ...(sessionPolicies ? { sessionPolicies } : {}),
    ...(clock ? { clock } : {}),
  })
}

/** Accepts every JSON object. A body that is not one is denied before. */
const ANY_OBJECT: StandardSchema = {
  '~standard': { version: 1, vendor: 'gatewright', validate: value => ({ value }) },
}

function declarations(gate: Parts['gate'], countsSpends: boolean, acceptsRepeats: boolean): Declarations {
  const rules = new Map<string, Rule>()
  /** The equal rule that was declared before, if there is one and repeats are accepted: a gate takes the same object for the same operation. */
  const known = (rule: Rule): Rule => {
    if (!acceptsRepeats) return rule
    const text = JSON.stringify(rule)
    const before = rules.get(text) ?? rule
    rules.set(text, before)
    return before
  }
  return {
    open: (operation, options) => ({
      route: gate.open(operation, openOperation(operation, options)),
      requestOf: openRequestOf as never,
    }),
    read(operation, options) {
      const { rule, route } = readOperation(operation, options)
      return { route: gate.guarded(known(rule), route), requestOf: readRequestOf as never }
    },
    write(operation, options, isExisting) {
      const { rule, route, amount } = writeOperation(operation, options as WriteOperation)
      if (rule.spends && !countsSpends)
        throw new TypeError(
          `${operation}: an operation that spends needs a store with spends, such as memoryStore() or postgresStore(pool)`,
        )
      const body = route.body ?? (isExisting && !amount ? undefined : ANY_OBJECT)
      const declared = gate.idempotent(known(rule), {
        ...route,
        ...(body ? { body } : {}),
        ...(amount ? { amount: ({ input }: OpenCall) => amount(input.body as never) } : {}),
      } as never)
      return { route: declared, requestOf: writeRequestOf(operation) as never }
    },
  }
}
