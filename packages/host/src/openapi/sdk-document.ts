import { isPublicDocument, type Operation } from '../http/operations/operation.ts'
import type { Json } from './components.ts'
import { openApiDocument, type DescribedHost } from './document.ts'
import { SuccessSchema } from './schemas.ts'

/**
 * Generates the description of an operation table for generators of clients. It leaves out old names, second paths of an operation, Open
 * Responses objects and examples, and operations that clients do not call: documents of the host, redirects for browsers, events of
 * providers. Each success has one object as its schema.
 */
export function sdkDocument(table: readonly Operation[], host: DescribedHost): Json {
  const called = table
    .filter(operation => !isPublicDocument(operation) && operation.credential !== 'provider')
    .map(operation => ({ ...operation, paths: [operation.paths[0]] as const }))
  // The introduction is for people, and describes old names.
  const documentation = { ...host.documentation, introduction: '' }
  const document = simplified(openApiDocument(called, { ...host, documentation, aliases: {} })) as Json
  return { ...document, components: usedComponents(document) }
}

/** Simplifies a part of a description, and everything in it. */
function simplified(part: unknown): unknown {
  if (Array.isArray(part)) return part.filter(each => !isOpenResponses(each)).map(simplified)
  if (typeof part !== 'object' || part === null) return part
  const { oneOf, allOf } = part as Json
  const [plain, ...others] = Array.isArray(oneOf) ? oneOf.filter(each => !isOpenResponses(each)) : []
  if (plain !== undefined && others.length === 0) return simplified(plain)
  if (isSuccess(allOf)) return simplified(successObject(allOf))
  // An example shows the response of all clients, with old names.
  const { example: _, ...withoutExample } = part as Json
  const members = Object.entries(withoutDeprecated('schema' in part ? withoutExample : (part as Json)))
  return Object.fromEntries(members.map(([name, each]) => [name, simplified(each)]))
}

/** The schema of an object without its deprecated members. */
function withoutDeprecated(schema: Json): Json {
  const { properties, required } = schema
  if (schema['type'] !== 'object' || typeof properties !== 'object' || properties === null) return schema
  const kept = Object.fromEntries(
    Object.entries(properties as Json).filter(([, each]) => (each as Json)['deprecated'] !== true),
  )
  return {
    ...schema,
    properties: kept,
    ...(Array.isArray(required) ? { required: required.filter(name => name in kept) } : {}),
  }
}

function isOpenResponses(part: unknown): boolean {
  const reference = (part as Json | null)?.['$ref']
  return (
    typeof reference === 'string' &&
    /\/(?:schemas\/OpenResponse|parameters\/OpenResponses(?:CallId)?)$/.test(reference)
  )
}

type SuccessParts = readonly [success: Json, data: { readonly properties: Json }, ...repeated: Json[]]

/** Whether the parts of an `allOf` are those of a success: the envelope, its `data`, and `data` once more at the top level. */
function isSuccess(parts: unknown): parts is SuccessParts {
  return Array.isArray(parts) && (parts[0] as Json | undefined)?.['$ref'] === '#/components/schemas/Success'
}

/** The schema of a success as one object. Members of `data` that are repeated at the top level are left out. */
function successObject([, { properties }]: SuccessParts): Json {
  const { title: _, ...envelope } = SuccessSchema as typeof SuccessSchema & { readonly title: string }
  return { ...envelope, properties: { ...envelope.properties, ...properties } }
}

/** The components of a description that its operations use, directly or through other components. */
function usedComponents({ paths, components }: Json): Json {
  const sections = components as Readonly<Record<string, Json>>
  const used = new Set<string>()
  const visit = (part: unknown): void => {
    for (const [, section = '', name = ''] of JSON.stringify(part).matchAll(
      /"#\/components\/(\w+)\/(\w+)"/g,
    )) {
      if (used.has(`${section}/${name}`)) continue
      used.add(`${section}/${name}`)
      visit(sections[section]?.[name])
    }
  }
  visit(paths)
  const named = Object.entries(sections).map(([section, members]) => [
    section,
    // Operations name their security schemes without a reference.
    section === 'securitySchemes'
      ? members
      : Object.fromEntries(Object.entries(members).filter(([name]) => used.has(`${section}/${name}`))),
  ])
  return Object.fromEntries(named) as Json
}
