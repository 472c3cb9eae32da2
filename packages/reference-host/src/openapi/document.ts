import { legacyPaths, type AliasTable } from '@gatewright/legacy-alias-router'
import type { Operation } from '../server/operation.ts'
import { schemeNames, withOldFields, withOldSchemes } from './aliases.ts'
import { answers } from './answers.ts'
import { fieldsOf, securitySchemes } from './components.ts'
import { createComponents, type Components, type Json } from './named.ts'

/** What the API description says about the host as a whole. */
export interface DescribedHost {
  readonly serviceName: string
  /** Where clients reach it; `/` stands for where the description came from. */
  readonly url: string
  readonly aliases: AliasTable
  /** Whether user operations take a user API key in the place of a session. */
  readonly directUserKey: boolean
}

/** Version of the interface description (fixed by the contract). */
const VERSION = '1.0.0'

/**
 * Writes the OpenAPI 3.1 description of a table. Legacy paths are entries of their own, marked deprecated. What several
 * entries share is a component: bodies and answers of an operation, refusals, and every schema that has a title.
 */
export function openApiDocument(table: readonly Operation[], host: DescribedHost): Json {
  const paths: Record<string, Record<string, Json>> = {}
  const components = createComponents()
  for (const operation of table) {
    const described = describe(operation, host, components)
    for (const [index, [path, legacy]] of everyPath(operation, host.aliases).entries()) {
      const { operationId, ...rest } = described
      const item = (paths[path] ??= {})
      item[operation.method.toLowerCase()] = {
        operationId: operationId + (index === 0 ? '' : `_${index + 1}`),
        ...(legacy ? { deprecated: true } : {}),
        ...rest,
      }
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: host.serviceName, version: VERSION },
    servers: [{ url: host.url }],
    tags: [...new Set(table.map(({ id }) => tagOf(id)))].map(name => ({ name })),
    paths,
    components: {
      ...components.collected(),
      securitySchemes: withOldSchemes(securitySchemes(host), host.aliases),
    },
  }
}

/** Canonical paths, and the legacy spelling of each that has one. */
function everyPath({ paths }: Operation, aliases: AliasTable): [path: string, legacy: boolean][] {
  return paths.flatMap(path => [
    [path, false] as [string, boolean],
    ...legacyPaths(aliases, path)
      .filter(({ alias }) => alias.mode !== 'gone')
      .map(old => [old.path, true] as [string, boolean]),
  ])
}

/** One operation, whatever path it is reached by. */
function describe(
  operation: Operation,
  host: DescribedHost,
  components: Components,
): Json & { readonly operationId: string } {
  const { id, title } = operation
  const schemes = security(operation, host).flatMap(name => schemeNames(name, host.aliases))
  return {
    operationId: id.replace('.', '_'),
    tags: [tagOf(id)],
    summary: title,
    parameters: parameters(operation, components),
    security: schemes.map(name => ({ [name]: [] })),
    ...requestBody(operation, host, components),
    responses: answers(operation, components),
  }
}

const tagOf = (id: string): string => id.split('.')[0] as string

function requestBody(
  { id, body, example }: Operation,
  { aliases }: DescribedHost,
  components: Components,
): Json {
  if (!body) return {}
  const required = Array.isArray(body.required) && body.required.length > 0
  const schema = components.schema(withOldFields(body, id, aliases))
  const content = { 'application/json': { schema, ...(example.body ? { example: example.body } : {}) } }
  return {
    requestBody: components.shared('requestBodies', id.replace('.', '_'), () => ({ required, content })),
  }
}

function parameters(operation: Operation, components: Components): Json[] {
  const path = [...operation.paths[0].matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    ...{ name, in: 'path', required: true, description: 'An id that an earlier answer gave' },
    schema: { type: 'string' },
  }))
  const query = Object.entries(operation.query?.properties ?? {}).map(([name, given]) => {
    const { description, ...schema } = components.schema(given)
    return { name, in: 'query', required: false, description, schema }
  })
  if (operation.surface === 'public') return query
  const key = 'write' in operation ? (['IdempotencyKey'] as const) : []
  return [...path, ...query, ...fieldsOf(components, ...key, 'OpenResponses', 'OpenResponsesCallId')]
}

/** The alternatives that prove the operation's credential. */
function security({ credential, surface }: Operation, { directUserKey }: DescribedHost): readonly string[] {
  if (credential === 'none') return []
  if (credential === 'user-key') return ['UserKey']
  if (credential === 'user-key-or-session') return ['UserKey', 'UserSessionBearer']
  if (credential === 'partner-key') return ['PartnerKey']
  if (surface === 'partner') return ['PartnerSessionBearer']
  return directUserKey ? ['UserSessionBearer', 'UserKey'] : ['UserSessionBearer']
}
