import { allow, type Verdict } from '@gatewright/kernel'
import { parseJsonObject } from './body.ts'
import { deny } from '../codes.ts'
import type { CanonicalFacts } from './facts.ts'
import type { AliasPort } from '../ports.ts'

/** A schema of any library that implements Standard Schema 1 (zod, valibot, arktype): https://standardschema.dev. */
export interface StandardSchema<T = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<T> | Promise<SchemaResult<T>>
    readonly types?: { readonly input: unknown; readonly output: T } | undefined
  }
}

type SchemaResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** The schemas of a route. Input without a schema is not checked. */
export interface InputSchemas<B = unknown, Q = unknown, P = unknown> {
  /** The schema of the JSON body, under current field names. Idempotency still compares the bytes. */
  readonly body?: StandardSchema<B>
  /** The schema of the query: a string per name, or an array of strings for a repeated name. */
  readonly query?: StandardSchema<Q>
  /** The schema of the path parameters, which are strings. */
  readonly params?: StandardSchema<P>
}

/** The input of a request, as the schemas of its route returned it. A member without a schema is undefined. */
export interface CheckedInput<B = unknown, Q = unknown, P = unknown> {
  readonly input: { readonly body: B; readonly query: Q; readonly params: P }
}

/** Reads the parameters and the body of a request. */
export interface InputSource {
  readonly params: Readonly<Record<string, string>>
  readBody(): Promise<Verdict<Uint8Array>>
}

/**
 * Checks parameters and query, then reads and checks the body. Denials: `invalid_request` with the field, and those of
 * `readBody`.
 */
export async function readInput(
  schemas: InputSchemas,
  { params, readBody }: InputSource,
  facts: CanonicalFacts,
  readJson: (bytes: Uint8Array) => Verdict<Record<string, unknown>>,
): Promise<Verdict<CheckedInput & { readonly bytes: Uint8Array }>> {
  const target = { params, query: schemas.query && queryOf(facts.query) }
  const checked: { params?: unknown; query?: unknown; body?: unknown } = {}
  for (const part of ['params', 'query'] as const) {
    const schema = schemas[part]
    const result = schema && (await checkedBy(schema, target[part], part))
    if (result && !result.ok) return result
    if (result) checked[part] = result.value
  }
  const bytes = await readBody()
  if (!bytes.ok) return bytes
  if (schemas.body) {
    const json = readJson(bytes.value)
    const body = json.ok ? await checkedBy(schemas.body, json.value, 'body') : json
    if (!body.ok) return body
    checked.body = body.value
  }
  return allow({ bytes: bytes.value, input: checked as CheckedInput['input'] })
}

/** Whether bodies of an operation may have old field names. */
export function hasOldFields(aliases: AliasPort | undefined, operation: string): boolean {
  return aliases?.readFields !== undefined && aliases.renamesFields?.(operation) !== false
}

/** Makes the function that parses a body as JSON under current field names. Its first call adds old names to `facts.oldNames`. */
export function jsonReader(
  aliases: AliasPort | undefined,
  operation: string,
  facts: CanonicalFacts,
): (bytes: Uint8Array) => Verdict<Record<string, unknown>> {
  const translates = hasOldFields(aliases, operation)
  let isNoted = false
  return bytes => {
    const parsed = parseJsonObject(bytes, facts.header('content-type'))
    if (!parsed.ok || !translates || !aliases?.readFields) return parsed
    const read = aliases.readFields(operation, parsed.value)
    const used = read.ok ? read.value.used : ((read as { used?: typeof facts.oldNames }).used ?? [])
    if (!isNoted) facts.oldNames.push(...used)
    isNoted = true
    return read.ok ? allow(read.value.body) : read
  }
}

/** Checks the schemas of a route once. Throws a `TypeError` unless each is a Standard Schema. */
export function checkedSchemas(operation: string, { body, query, params }: InputSchemas): InputSchemas {
  for (const [name, schema] of Object.entries({ body, query, params })) {
    if (schema === undefined || typeof schema?.['~standard']?.validate === 'function') continue
    throw new TypeError(
      `${operation}: ${name} must be a Standard Schema, such as a schema of zod, valibot or arktype`,
    )
  }
  return { ...(body ? { body } : {}), ...(query ? { query } : {}), ...(params ? { params } : {}) }
}

async function checkedBy<T>(schema: StandardSchema<T>, value: unknown, part: string): Promise<Verdict<T>> {
  const result = await schema['~standard'].validate(value)
  if (result.issues === undefined) return allow(result.value)
  const { message = 'is not valid', path = [] } = result.issues[0] ?? {}
  const names = path.map(segment => String(typeof segment === 'object' ? segment.key : segment))
  const field = names.length === 0 ? part : names.join('.')
  return deny('invalid_request', message.startsWith(field) ? message : `${field}: ${message}`, { field })
}

function queryOf(query: URLSearchParams): Record<string, string | string[]> {
  const names = [...new Set(query.keys())]
  const valueOf = (name: string): string | string[] => {
    const [first = '', ...rest] = query.getAll(name)
    return rest.length === 0 ? first : [first, ...rest]
  }
  // `fromEntries` makes own members, also for a name such as `__proto__`.
  return Object.fromEntries(names.map(name => [name, valueOf(name)]))
}
