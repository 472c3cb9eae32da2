import { sha256 } from '@gatewright/kernel/internal/platform'

/**
 * What tells a repeated call from a new one. The id of a JSON-RPC request does not: a client whose stream broke calls again with a new one.
 * Name `args`, `meta` or both.
 */
export interface Intent {
  /**
   * The arguments that name what a person asked for, such as `['orderId']`: a call that has all of them is the same as an earlier one with the
   * same values, whatever key it has.
   */
  readonly args?: readonly string[]
  /** The member of `_meta` with the key that the client, not the model, makes once for each intent, such as `idempotency-key`. */
  readonly meta?: string
}

/** Throws a `TypeError` unless an intent names arguments or a member of `_meta`. */
export function assertIntent(tool: string, intent: unknown): void {
  const { args, meta, ...others } = (intent ?? {}) as Intent
  const isList = Array.isArray(args) && args.length > 0 && args.every(name => typeof name === 'string')
  const [other] = Object.keys(others)
  if (other !== undefined || (args === undefined && meta === undefined) || (args !== undefined && !isList))
    throw new TypeError(
      `${tool}: intent must be { args: ['orderId'] }, { meta: 'idempotency-key' } or both, got ${JSON.stringify(intent)}: it tells a repeat from a new call. For a tool that changes nothing write read: true`,
    )
  if (meta !== undefined && (typeof meta !== 'string' || meta === ''))
    throw new TypeError(
      `${tool}: intent.meta must be the name of a member of _meta, such as "idempotency-key"`,
    )
}

/** Throws a `TypeError` for an intent that names an argument which the JSON Schema of a tool does not have. */
export function assertArguments(
  tool: string,
  { args = [] }: Intent,
  schema: Readonly<Record<string, unknown>>,
): void {
  const { properties = {} } = schema
  const missing = args.find(name => !Object.hasOwn(properties as object, name))
  if (missing !== undefined)
    throw new TypeError(`${tool}: intent names the argument ${missing}, which inputSchema does not have`)
}

/**
 * Returns the idempotency key of a call: made of the arguments that the intent names, else the client's. Undefined: the call has neither, and
 * no key is made for it, because a repeat would get another one.
 */
export function intentKey(
  { args, meta }: Intent,
  given: Readonly<Record<string, unknown>>,
  clientMeta: Readonly<Record<string, unknown>> | undefined,
): string | undefined {
  const values = args?.map(name => (Object.hasOwn(given, name) ? given[name] : undefined))
  if (args && values?.every(isNamed))
    return `args_${sha256(canonicalJson(Object.fromEntries(args.map((name, index) => [name, values[index]]))))}`
  const key = meta === undefined ? undefined : clientMeta?.[meta]
  return typeof key === 'string' ? key : undefined
}

const isNamed = (value: unknown): boolean => value !== undefined && value !== null && value !== ''

/** Says what a call without an intent must send. */
export function missingIntent({ args, meta }: Intent): string {
  const named = args && `the ${args.length === 1 ? 'argument' : 'arguments'} ${args.join(', ')}`
  const keyed = meta !== undefined && `the key of the client in _meta[${JSON.stringify(meta)}]`
  const both = [named, keyed].filter(Boolean).join(', or ')
  return `Send ${both}, which names what the person asked for: the same value each time you call again for the same thing, another one only for another thing`
}

/** Returns the JSON of a value with its members in one order, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, each: unknown) => {
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return each
    const members = Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1))
    return Object.fromEntries(members)
  })
}
