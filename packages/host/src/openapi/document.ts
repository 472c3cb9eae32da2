import { legacyPaths, type AliasTable } from '@gatewright/legacy-alias-router'
import type { Operation } from '../http/operations/operation.ts'
import { closed } from '../schemas/unknown-members.ts'
import { schemeNames, withLegacyFields, withLegacySchemes } from './aliases.ts'
import { namesOf, type NamedOperation } from './operation-names.ts'
import { fieldsOf, KEY_FIELDS, securitySchemes } from './common-components.ts'
import { createComponents, type Components, type Json } from './components.ts'
import { responsesOf } from './responses.ts'

/** The facts about the host in the API description. */
export interface DescribedHost {
  readonly serviceName: string
  /** The server URL for clients; `/` means the origin of the description itself. */
  readonly url: string
  readonly aliases: AliasTable
  readonly documentation: Documentation
  /** Whether user operations accept a user API key in place of a session. */
  readonly directUserKey: boolean
}

/** What the API description says beside its operations. */
export interface Documentation {
  /** Markdown before the operations. A page shows the address of the host in place of `{host}`. */
  readonly introduction: string
  /** The titles of groups of operations by their tags, in their order. Other tags follow. */
  readonly groups: Readonly<Record<string, string>>
}

/** Version of the API description. Existing clients expect this one. */
export const VERSION = '1.0.0'

/**
 * Generates the OpenAPI 3.1 description of an operation table. Legacy paths have their own entries, marked
 * deprecated. Bodies, responses, denials and schemas with a title are shared components.
 */
export function openApiDocument(table: readonly Operation[], host: DescribedHost): Json {
  const paths: Record<string, Record<string, Json>> = {}
  const components = createComponents()
  const nameOf = namesOf(table)
  for (const operation of table) {
    const description = describeOperation({ ...operation, name: nameOf(operation) }, host, components)
    for (const [index, [path, legacy]] of everyPath(operation, host.aliases).entries()) {
      const { operationId, ...rest } = description
      const item = (paths[path] ??= {})
      item[operation.method.toLowerCase()] = {
        operationId: operationId + (index === 0 ? '' : `_${index + 1}`),
        ...(legacy ? { deprecated: true } : {}),
        ...rest,
      }
    }
  }
  const { introduction } = host.documentation
  return {
    openapi: '3.1.0',
    info: {
      title: host.serviceName,
      version: VERSION,
      ...(introduction === '' ? {} : { description: introduction }),
    },
    servers: [{ url: host.url }],
    tags: tagsOf(table, host.documentation.groups),
    paths,
    components: {
      ...components.collected(),
      securitySchemes: withLegacySchemes(securitySchemes(host), host.aliases),
    },
  }
}

/** Lists the canonical paths of an operation, each with its legacy spelling if it has one. */
function everyPath({ paths }: Operation, aliases: AliasTable): [path: string, legacy: boolean][] {
  return paths.flatMap(path => [
    [path, false] as [string, boolean],
    ...legacyPaths(aliases, path)
      .filter(({ alias }) => alias.mode !== 'gone')
      .map(old => [old.path, true] as [string, boolean]),
  ])
}

/** Describes one operation, independently of its path. */
function describeOperation(
  operation: NamedOperation,
  host: DescribedHost,
  components: Components,
): Json & { readonly operationId: string } {
  const { name: operationId, title, details, unknownMembers } = operation
  const description = [details, unknownMembers === 'deny' ? DENIES_UNKNOWN : undefined]
    .filter(Boolean)
    .join(' ')
  return {
    operationId,
    tags: [tagOf(operation)],
    summary: title,
    ...(description === '' ? {} : { description }),
    parameters: parameters(operation, components),
    security: securityRequirements(operation, host),
    ...requestBody(operation, host, components),
    responses: responsesOf(operation, components),
  }
}

const DENIES_UNKNOWN =
  'Refuses a member of the body and a query parameter that it does not know: 400 `invalid_request`, with the name as `field`.'

/** The tag of an operation: the first word of its id. What only a sandbox serves has a tag of its own. */
function tagOf({ id, paths }: Pick<Operation, 'id' | 'paths'>): string {
  return paths[0]?.includes('/sandbox/') ? 'sandbox' : (id.split('.')[0] as string)
}

function tagsOf(table: readonly Operation[], groups: Documentation['groups']): Json[] {
  const used = new Set(table.map(tagOf))
  const ordered = [...Object.keys(groups).filter(name => used.has(name)), ...used]
  return [...new Set(ordered)].map(name => ({
    name,
    ...(groups[name] === undefined ? {} : { 'x-displayName': groups[name] }),
  }))
}

function requestBody(
  { id, name, body, example, unknownMembers }: NamedOperation,
  { aliases }: DescribedHost,
  components: Components,
): Json {
  if (!body) return {}
  const required = Array.isArray(body.required) && body.required.length > 0
  const named = withLegacyFields(body, id, aliases)
  const schema = components.schema(unknownMembers === 'deny' ? closed(named) : named)
  const content = { 'application/json': { schema, ...(example.body ? { example: example.body } : {}) } }
  return {
    requestBody: components.shared('requestBodies', name, () => ({ required, content })),
  }
}

function parameters(operation: Operation, components: Components): Json[] {
  const path = [...operation.paths[0].matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    description: 'An id from an earlier response',
    schema: { type: 'string' },
    example: `${name}-0001`,
  }))
  const names: readonly string[] = operation.query?.required ?? []
  const query = Object.entries(operation.query?.properties ?? {}).map(([name, given]) => {
    const { description, expected: _, ...schema } = components.schema(given)
    const required = names.includes(name) && !('default' in schema)
    const list = schema['type'] === 'array' ? { explode: false } : {}
    return { name, in: 'query', required, description, ...list, schema }
  })
  if (operation.surface === 'public') return [...path, ...query]
  const key = 'write' in operation ? keyField(operation.idempotency ?? 'required', operation.id) : []
  return [...path, ...query, ...key, ...fieldsOf(components, 'OpenResponses', 'OpenResponsesCallId')]
}

/** The field of an idempotency key, with an example of its own: a key that was used for another operation is refused. */
function keyField(idempotency: 'required' | 'optional' | 'none', id: string): Json[] {
  return idempotency === 'none' ? [] : [{ ...KEY_FIELDS[idempotency], example: `${id}-0001` }]
}

/**
 * Lists the credentials that an operation accepts, any one of which is enough. A session, or a key in its place, needs the
 * listed scopes (OpenAPI 3.1, "Security Requirement Object").
 */
function securityRequirements(operation: Operation, host: DescribedHost): Json[] {
  const { scopes = [], anyOf } = operation
  const needed = anyOf ? anyOf.map(each => [...scopes, each]) : [scopes]
  return schemesOf(operation, host)
    .flatMap(name => schemeNames(name, host.aliases).map(each => [each, name] as const))
    .flatMap(([name, current]) =>
      current.endsWith('SessionBearer') || operation.credential === 'session'
        ? needed.map(each => ({ [name]: each }))
        : [{ [name]: [] }],
    )
}

/** Lists the security schemes that an operation accepts. */
function schemesOf({ credential, surface }: Operation, { directUserKey }: DescribedHost): readonly string[] {
  if (credential === 'none') return []
  if (credential === 'provider') return ['ProviderSignature']
  if (credential === 'user-key') return ['UserKey']
  if (credential === 'web-token') return ['WebToken']
  if (credential === 'user-key-or-session') return ['UserKey', 'UserSessionBearer']
  if (credential === 'user-key-web-token-or-session') return ['UserKey', 'UserSessionBearer', 'WebToken']
  if (credential === 'partner-key') return ['PartnerKey']
  if (surface === 'partner') return ['PartnerSessionBearer']
  const web = credential === 'session-or-web-token' ? ['WebToken'] : []
  return directUserKey ? ['UserSessionBearer', 'UserKey', ...web] : ['UserSessionBearer', ...web]
}
