import type { AmountLike, StandardSchema } from '@gatewright/http/internal'
import type { Rule } from '@gatewright/kernel'
import { checkOptions, type OptionTable, type Surface } from '@gatewright/kernel/internal'

/** Methods that change something (RFC 9110, section 9.2.1; RFC 5789). */
export const CHANGING_METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'] as const
/** Methods that must change nothing (RFC 9110, section 9.2.1), and whose requests have no body to compare. */
export const READING_METHODS: readonly string[] = ['GET', 'HEAD']
type ChangingMethod = (typeof CHANGING_METHODS)[number]

/** What an operation requires of its caller. Name `scope` or `anyOf`. */
interface Requirement<S extends string> {
  /** The scope that a caller must have, or a list of scopes of which it must have all. `[]`: any session may call. */
  readonly scope?: S | readonly S[]
  /** Scopes of which a caller must have one. */
  readonly anyOf?: readonly S[]
  /** The only surface whose sessions may call. Default: both. */
  readonly surface?: Surface
  /** The class of the operation, for rate limits per class. */
  readonly limit?: string
}

/** Schemas of the input: zod, valibot, arktype or any other Standard Schema. A request that does not fit gets 400. */
interface Schemas<Q, P> {
  /** The schema of the query: a string per name, or an array of strings for a repeated name. */
  readonly query?: StandardSchema<Q>
  /** The schema of the path parameters, which are strings. */
  readonly params?: StandardSchema<P>
}

/** Options of an operation that requires a session and changes nothing. */
export interface ReadOperation<S extends string = string, Q = unknown, P = unknown>
  extends Requirement<S>,
    Schemas<Q, P> {
  /** Whether the response reveals card secrets, for policies with `allowCardSecrets`. Default false. */
  readonly cardSecrets?: boolean
  /**
   * Methods of requests that change nothing although their method says so, such as `['POST']` of a search. Default: none of POST, PUT, PATCH
   * and DELETE may reach a read.
   */
  readonly methods?: readonly ChangingMethod[]
}

/** Options of a write, which requires a session and an `Idempotency-Key`. */
export interface WriteOperation<S extends string = string, B = unknown, Q = unknown, P = unknown>
  extends Omit<ReadOperation<S, Q, P>, 'methods'> {
  /** The schema of the JSON body. Idempotency compares the bytes. Default: any JSON object. */
  readonly body?: StandardSchema<B>
  /**
   * The amount that the operation spends. A function: it is held under every cap of the caller before the handler, and counted or
   * released with the outcome. `spend` or `withdrawal`: the handler calls `reserve` when it knows the amount. Default: it spends nothing.
   */
  readonly spends?: ((body: B) => AmountLike) | 'spend' | 'withdrawal'
  /** The amount of a withdrawal, which also counts under the caps on withdrawals. As `spends`, and instead of it. */
  readonly withdraws?: (body: B) => AmountLike
  /**
   * Statuses (400 to 499) of errors that the handler throws before any effect, such as `[400, 422]`: they release the amount and free
   * the key. Default: none, so that every error leaves the outcome unknown. For a single error, throw `nothingHappened(error)`.
   */
  readonly noEffectStatuses?: readonly number[]
  /** Whether the query is part of the write, so that its key is denied with another query. Default: with a `query` schema. */
  readonly compareQuery?: boolean
}

/** Options of an operation that anyone may call. */
export interface OpenOperation<B = unknown, Q = unknown, P = unknown> extends Schemas<Q, P> {
  /** The schema of the JSON body. Default: the body is not read as JSON. */
  readonly body?: StandardSchema<B>
}

const SCHEMAS: OptionTable<Schemas<unknown, unknown>> = { query: true, params: true }
const GUARDED: OptionTable<Omit<ReadOperation, 'methods'>> = {
  scope: true,
  anyOf: true,
  surface: true,
  limit: true,
  cardSecrets: true,
  ...SCHEMAS,
}
const READ: OptionTable<ReadOperation> = { ...GUARDED, methods: true }
const WRITE: OptionTable<WriteOperation> = {
  ...GUARDED,
  body: true,
  spends: true,
  withdraws: { is: 'function', default: undefined },
  noEffectStatuses: true,
  compareQuery: true,
}
const OPEN: OptionTable<OpenOperation> = { ...SCHEMAS, body: true }

/** A rule, and the options of its route. */
interface Declared {
  readonly rule: Rule
  readonly route: Pick<WriteOperation, 'query' | 'params' | 'body' | 'noEffectStatuses' | 'compareQuery'>
  /** The amount of a write, if its options name it. */
  readonly amount?: ((body: never) => AmountLike) | undefined
  /** The methods of a read that change nothing. */
  readonly methods?: readonly string[]
}

/** Throws a `TypeError` unless the first argument is a text, as where `gw.write` itself is mounted and gets a request. */
function assertOperation(operation: unknown): void {
  if (typeof operation === 'string') return
  throw new TypeError(
    `the first argument must be an operation such as "payments.create", got ${typeof operation}: mount what gw.write(...) returns, not gw.write`,
  )
}

/** Makes the rule of a read. Throws a `TypeError` for wrong options. */
export function readOperation(operation: string, given: ReadOperation): Declared {
  assertOperation(operation)
  const { query, params, methods = [], ...requirement } = checkOptions(operation, given, READ)
  if (!Array.isArray(methods) || !methods.every(method => CHANGING_METHODS.includes(method)))
    throw new TypeError(
      `${operation}: methods must be a list of ${CHANGING_METHODS.join(', ')}, got ${JSON.stringify(methods)}`,
    )
  return { rule: ruleOf(operation, requirement), route: present({ query, params }), methods }
}

/** Makes the rule of a write. Throws a `TypeError` for wrong options. */
export function writeOperation(operation: string, given: WriteOperation): Declared {
  assertOperation(operation)
  const { spends, withdraws, body, noEffectStatuses, compareQuery, ...read } = checkOptions(
    operation,
    given,
    WRITE,
  )
  if (spends !== undefined && withdraws !== undefined)
    throw new TypeError(
      `${operation}: give spends or withdraws, not both: a withdrawal counts under all caps on spends`,
    )
  const { rule, route } = readOperation(operation, read)
  if (spends !== undefined && typeof spends !== 'function' && spends !== 'spend' && spends !== 'withdrawal')
    throw new TypeError(
      `${operation}: spends must be a function of the body that returns the amount, 'spend' or 'withdrawal', got ${typeof spends === 'string' ? JSON.stringify(spends) : typeof spends}: write spends: body => ({ amountCents: body.amountCents, currency: 'USD' })`,
    )
  assertNotAsync(operation, 'spends', spends)
  assertNotAsync(operation, 'withdraws', withdraws)
  const kind = withdraws ? 'withdrawal' : typeof spends === 'function' ? 'spend' : spends
  return {
    rule: { ...rule, ...present({ spends: kind }) },
    route: { ...route, ...present({ body, noEffectStatuses, compareQuery }) },
    amount: withdraws ?? (typeof spends === 'function' ? spends : undefined),
  }
}

/** Throws a `TypeError` for an async function, whose amount would be a promise. Compiled to ES5 it is known at the first request only. */
function assertNotAsync(operation: string, name: string, amount: unknown): void {
  if (Object.prototype.toString.call(amount) !== '[object AsyncFunction]') return
  throw new TypeError(
    `${operation}: ${name} must not be async, because the amount is held before the handler runs: return { amountCents, currency } from the body, or write spends: 'spend' and call reserve in the handler when the amount is known`,
  )
}

/** Checks the options of an open operation. Throws a `TypeError` for wrong ones. */
export function openOperation(operation: string, given: OpenOperation): OpenOperation {
  assertOperation(operation)
  return checkOptions(operation, given, OPEN)
}

function ruleOf(
  operation: string,
  { scope, anyOf, ...rest }: Omit<ReadOperation, keyof Schemas<unknown, unknown>>,
): Rule {
  if (scope === undefined && anyOf === undefined)
    throw new TypeError(
      `${operation}: name the scope that a caller needs in scope, or several in anyOf; scope: [] says that any session may call`,
    )
  const allOf = typeof scope === 'string' ? [scope] : scope
  return { operation, ...present({ allOf, anyOf, ...rest }) } as Rule
}

/** The members that have a value. A rule with an undefined member is refused. */
function present<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never
}
