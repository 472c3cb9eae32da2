import { legacyPaths, type AliasTable } from '@gatewright/legacy-alias-router'
import type { TObject } from 'typebox/type'
import type { Operation } from '../server/operation.ts'
import { schemeNames, withOldFields, withOldSchemes } from './aliases.ts'
import { examples } from './examples.ts'
import { answers } from './answers.ts'
import { schemas, securitySchemes } from './components.ts'

/** What the API description says about the host as a whole. */
export interface DescribedHost {
  readonly serviceName: string
  /** Where clients reach it; `/` stands for where the description came from. */
  readonly url: string
  readonly aliases: AliasTable
}

type Json = Readonly<Record<string, unknown>>

/** Version of the interface description (fixed by the contract). */
const VERSION = '1.0.0'

/** Writes the OpenAPI 3.1 description of a table. Legacy paths are entries of their own, marked deprecated. */
export function openApiDocument(table: readonly Operation[], host: DescribedHost): Json {
  const paths: Record<string, Record<string, Json>> = {}
  for (const operation of table) {
    for (const [index, [path, legacy]] of everyPath(operation, host.aliases).entries()) {
      const item = (paths[path] ??= {})
      item[operation.method.toLowerCase()] = describe(operation, { index, legacy }, host.aliases)
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: host.serviceName, version: VERSION },
    servers: [{ url: host.url }],
    tags: [...new Set(table.map(({ id }) => tagOf(id)))].map(name => ({ name })),
    paths,
    components: { schemas, securitySchemes: withOldSchemes(securitySchemes, host.aliases) },
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

function describe(
  operation: Operation,
  { index, legacy }: { index: number; legacy: boolean },
  aliases: AliasTable,
): Json {
  const { id, title, body } = operation
  return {
    operationId: id.replace('.', '_') + (index === 0 ? '' : `_${index + 1}`),
    tags: [tagOf(id)],
    summary: title,
    ...(legacy ? { deprecated: true } : {}),
    parameters: parameters(operation),
    security: security(operation).flatMap(name => schemeNames(name, aliases).map(each => ({ [each]: [] }))),
    ...(body ? { requestBody: requestBody(id, body, withOldFields(body, id, aliases)) } : {}),
    responses: answers(operation),
  }
}

const tagOf = (id: string): string => id.split('.')[0] as string

function requestBody(id: string, body: TObject, schema: Json): Json {
  const required = Array.isArray(body.required) && body.required.length > 0
  const example = examples[id]?.body
  return { required, content: { 'application/json': { schema, ...(example ? { example } : {}) } } }
}

function parameters(operation: Operation): Json[] {
  const path = [...operation.paths[0].matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    ...{ name, in: 'path', required: true },
    schema: { type: 'string' },
  }))
  const query = Object.entries(operation.query?.properties ?? {}).map(([name, schema]) => ({
    ...{ name, in: 'query', required: false },
    schema,
  }))
  const refs = ['OpenResponses', 'OpenResponsesCallId']
  if ('write' in operation) refs.unshift('IdempotencyKey')
  const headers = operation.surface === 'public' ? [] : refs.map(name => headerParameters[name] as Json)
  return [...path, ...query, ...headers]
}

const header = (name: string, schema: Json, required = false): Json => ({
  name,
  in: 'header',
  required,
  schema,
})
const headerParameters: Readonly<Record<string, Json>> = {
  IdempotencyKey: header('idempotency-key', { type: 'string', minLength: 8, maxLength: 255 }, true),
  OpenResponses: header('X-Open-Responses', { type: 'string', enum: ['1', 'true'] }),
  OpenResponsesCallId: header('X-Open-Responses-Call-Id', { type: 'string', maxLength: 200 }),
}

/** The alternatives that prove the operation's credential. */
function security({ credential, surface }: Operation): readonly string[] {
  if (credential === 'none') return []
  if (credential === 'user-key') return ['UserKey']
  if (credential === 'user-key-or-session') return ['UserKey', 'UserSessionBearer']
  if (credential === 'partner-key') return ['PartnerKey']
  return [surface === 'partner' ? 'PartnerSessionBearer' : 'UserSessionBearer']
}
