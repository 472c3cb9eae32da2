import { allow, type Verdict } from '@gatewright/kernel'
import { parseJsonObject } from './body.ts'
import { deny } from './codes.ts'
import type { CanonicalFacts } from './facts.ts'
import type { AliasPart } from './parts.ts'

/** A schema of any library that speaks Standard Schema 1 (zod, valibot, arktype): https://standardschema.dev. */
export interface StandardSchema<T = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<T> | Promise<SchemaResult<T>>
    readonly types?: { readonly input: unknown; readonly output: T } | undefined
  }
}

/** What a schema makes of a value. */
type SchemaResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** The schemas of a route; what has none is not checked. */
export interface InputSchemas<B = unknown, Q = unknown, P = unknown> {
  /** Of the JSON body, under current field names. Idempotency compares the bytes all the same. */
  readonly body?: StandardSchema<B>
  /** Of the query: a text for each name, an array of texts for one that comes more than once. */
  readonly query?: StandardSchema<Q>
  /** Of the path parameters, as texts. */
  readonly params?: StandardSchema<P>
}

/** What the schemas of a route made of a request; undefined without a schema. */
export interface Input<B = unknown, Q = unknown, P = unknown> {
  readonly body: B
  readonly query: Q
  readonly params: P
}

/** Where the parts of a request come from. */
export interface InputSource {
  readonly params: Readonly<Record<string, string>>
  readBody(): Promise<Verdict<Uint8Array>>
}

/** A body that was read, and what the schemas made of the request. */
export interface ReadInput {
  readonly bytes: Uint8Array
  readonly input: Input
}

/**
 * Checks parameters and query, then reads the body and checks it. Denials: `invalid_request` with the field at fault, and
 * what reading a body is refused with.
 */
export async function readInput(
  schemas: InputSchemas,
  { params, readBody }: InputSource,
  facts: CanonicalFacts,
  readJson: (bytes: Uint8Array) => Verdict<Record<string, unknown>>,
): Promise<Verdict<ReadInput>> {
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
  return allow({ bytes: bytes.value, input: checked as unknown as Input })
}

/** Reads a body as JSON under current field names. The old ones are noted. */
export function jsonReader(
  aliases: AliasPart | undefined,
  operation: string,
  facts: CanonicalFacts,
): (bytes: Uint8Array) => Verdict<Record<string, unknown>> {
  return bytes => {
    const parsed = parseJsonObject(bytes, facts.header('content-type'))
    if (!parsed.ok || !aliases?.readFields) return parsed
    const read = aliases.readFields(operation, parsed.value)
    facts.oldNames.push(
      ...(read.ok ? read.value.used : ((read as { used?: typeof facts.oldNames }).used ?? [])),
    )
    return read.ok ? allow(read.value.body) : read
  }
}

/** Checks the schemas of a route once. Throws a `TypeError` for what is no Standard Schema. */
export function checkedSchemas(operation: string, { body, query, params }: InputSchemas): InputSchemas {
  for (const [name, schema] of Object.entries({ body, query, params })) {
    if (schema === undefined || typeof schema?.['~standard']?.validate === 'function') continue
    throw new TypeError(
      `${operation}: ${name} must be a Standard Schema, such as one of zod, valibot or arktype`,
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
  // Own members only, whatever the names are.
  return Object.fromEntries(names.map(name => [name, valueOf(name)]))
}
