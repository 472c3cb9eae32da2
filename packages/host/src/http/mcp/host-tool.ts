import type { OpenCall } from '@gatewright/http'
import type { CompleteRoute, ToolTarget } from '@gatewright/http/internal/tools'
import type { Rule } from '@gatewright/kernel'
import type { Tool } from '@modelcontextprotocol/server'
import type { TObject } from 'typebox/type'
import { ruleOf, type MountedOperation } from '../mount/mount.ts'
import { changesCredentials } from '../operations/operation-table.ts'
import { isCallersSpend, type Operation } from '../operations/operation.ts'
import { INSTANT_FORMAT } from '../../schemas/instant.ts'
import { closed } from '../../schemas/unknown-members.ts'

/** The argument that names what a person asked for. It is no member of any operation. */
export const INTENT = 'intent'

/** An operation as a tool for models. */
export interface HostTool {
  readonly operation: Operation
  /** What a client is told about it. */
  readonly shown: Tool
  /** Whether a call takes an intent: its response is kept, and a repeat gets it. */
  readonly takesIntent: boolean
  readonly pathNames: readonly string[]
  readonly queryNames: readonly string[]
  /** What a session needs for it. */
  readonly rule: Rule
  readonly route: CompleteRoute<OpenCall>
}

/** The request of the HTTP API for which a call of a tool stands. */
export interface ToolRequest {
  readonly target: ToolTarget
  readonly body: Uint8Array
}

/**
 * Whether a model may call an operation as a tool. The rule: it takes a session of a user and nothing else, responds in the envelope, and
 * neither makes, changes nor reveals a credential or a secret, nor states anything in the name of the person (`personOnly`).
 */
function isTool(operation: Operation): boolean {
  const { id, surface, credential, document = false, cardSecrets = false, personOnly = false } = operation
  const isReachable = surface === 'user' && credential === 'session' && !document
  return isReachable && !cardSecrets && !personOnly && !changesCredentials(id, operation)
}

/**
 * Makes the tools of mounted operations, in their order. Throws a `TypeError` for an operation with one name for two arguments: a member of the
 * body and a parameter, or `intent`.
 */
export function mountedTools(operations: readonly MountedOperation[]): readonly HostTool[] {
  return operations.flatMap(({ operation, route }) =>
    route && isTool(operation) ? [toolOf(operation, route)] : [],
  )
}

function toolOf(operation: Operation, route: HostTool['route']): HostTool {
  const { id, title, method, paths, query, body } = operation
  const pathNames = [...paths[0].matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
  const queryNames = Object.keys(query?.properties ?? {})
  const bodyNames = Object.keys(body?.properties ?? {})
  const names = [...pathNames, ...queryNames, ...bodyNames, INTENT]
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined)
    throw new TypeError(
      `operation ${id} has two arguments called ${twice}, so that no tool can be made of it`,
    )
  const keyed = keyOf(operation)
  const isRead = method === 'GET'
  return {
    operation,
    takesIntent: keyed !== 'none',
    pathNames,
    queryNames,
    rule: ruleOf(operation),
    route,
    shown: {
      name: id,
      title,
      description: descriptionOf(operation),
      inputSchema: inputSchemaOf(operation, pathNames),
      annotations: {
        title,
        readOnlyHint: isRead,
        ...(isRead ? {} : { destructiveHint: !onlyAdds(operation) }),
        idempotentHint: isRead || keyed === 'required',
        openWorldHint: false,
      },
    },
  }
}

/** Whether a write takes an idempotency key. */
const keyOf = (operation: Operation): 'required' | 'optional' | 'none' =>
  'write' in operation ? (operation.idempotency ?? 'required') : 'none'

/** Whether a write only adds a record, and spends nothing. */
const onlyAdds = (operation: Operation): boolean =>
  operation.id.endsWith('.create') && !('write' in operation && operation.spends)

function descriptionOf(operation: Operation): string {
  return [`${operation.title}.`, operation.details, costOf(operation)].filter(Boolean).join(' ')
}

/** Says what a write costs, and when a model must ask the person. */
function costOf(operation: Operation): string | undefined {
  if (operation.method === 'GET') return undefined
  if ('write' in operation && operation.spends === 'withdrawal')
    return 'Moves money out of the account for good, within the limits of the key. Ask the person first, unless they named this amount and this destination.'
  if ('write' in operation && isCallersSpend(operation.spends))
    return 'Spends money of the account, within the limits of the key. Ask the person first, unless they named this amount and this payee.'
  if ('write' in operation && operation.spends === 'card')
    return 'Spends money of the account, within the limits of the card. Ask the person first, unless they named this amount.'
  return onlyAdds(operation)
    ? 'Costs nothing.'
    : 'Costs nothing. Ask the person first, unless they asked for this change.'
}

const INTENT_SCHEMA = {
  type: 'string',
  minLength: 1,
  description:
    'What the person asked for, in words that fit no other request, such as "pay Ada 20 USD for dinner on 3 May". Send the same text each time you call again for the same thing, so that it happens once; another text is another call',
} as const

function inputSchemaOf(operation: Operation, pathNames: readonly string[]): Tool['inputSchema'] {
  const { method, query, body, unknownMembers } = operation
  const keyed = keyOf(operation)
  const path = pathNames.map(
    name => [name, { type: 'string', minLength: 1, description: 'An id from an earlier response' }] as const,
  )
  const parameters = partsOf(query, true)
  const members = partsOf(body && (unknownMembers === 'deny' ? (closed(body) as TObject) : body), false)
  const isClosed = method === 'GET' || unknownMembers === 'deny'
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(path),
      ...parameters.properties,
      ...members.properties,
      ...(keyed === 'none' ? {} : { [INTENT]: INTENT_SCHEMA }),
    },
    required: [
      ...pathNames,
      ...parameters.required,
      ...members.required,
      ...(keyed === 'required' ? [INTENT] : []),
    ],
    ...(isClosed ? { additionalProperties: false } : {}),
  }
}

type Json = Readonly<Record<string, unknown>>

/** The members of an object schema for clients. A parameter with a default is not required. */
function partsOf(
  schema: TObject | undefined,
  isQuery: boolean,
): { readonly properties: Record<string, object>; readonly required: readonly string[] } {
  const entries = Object.entries(schema?.properties ?? {}) as [string, Json][]
  const required: readonly string[] = schema?.required ?? []
  return {
    properties: Object.fromEntries(entries.map(([name, each]) => [name, forClients(each)])),
    required: entries.flatMap(([name, each]) =>
      required.includes(name) && !(isQuery && 'default' in each) ? [name] : [],
    ),
  }
}

/** Removes from a schema what only this host understands: names of components, its own keywords and its own formats. */
function forClients({
  title: _title,
  expected: _expected,
  'x-described': described,
  ...given
}: Json): object {
  const { format, properties, items, anyOf, ...rest } = { ...given, ...(described as Json | undefined) }
  return {
    ...rest,
    ...(format === INSTANT_FORMAT ? { format } : {}),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties as Json).map(([name, each]) => [name, forClients(each as Json)]),
          ),
        }),
    ...(items === undefined ? {} : { items: forClients(items as Json) }),
    ...(anyOf === undefined ? {} : { anyOf: (anyOf as readonly Json[]).map(forClients) }),
  }
}

/** Makes the request for which a call stands. Arguments that are not known go where the operation finds and denies or lists them. */
export function requestOf(
  { operation, pathNames, queryNames }: HostTool,
  given: Readonly<Record<string, unknown>>,
): ToolRequest {
  const { method, paths } = operation
  const entries = Object.entries(given).filter(([name]) => name !== INTENT)
  const isParameter = (name: string): boolean => queryNames.includes(name) || method === 'GET'
  const named = (name: string): string => textOf(Object.hasOwn(given, name) ? given[name] : undefined)
  const params = Object.fromEntries(pathNames.map(name => [name, named(name)]))
  const others = entries.filter(([name]) => !pathNames.includes(name))
  const query = new URLSearchParams()
  for (const [name, value] of others)
    if (isParameter(name) && value !== null) query.append(name, textOf(value))
  const search = query.toString()
  const members = Object.fromEntries(others.filter(([name]) => !isParameter(name)))
  return {
    target: {
      method,
      path: paths[0].replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(params[name] ?? '')),
      pattern: paths[0].replaceAll(/\{(\w+)\}/g, ':$1'),
      search: search === '' ? '' : `?${search}`,
      params,
    },
    body: method === 'GET' ? new Uint8Array() : new TextEncoder().encode(JSON.stringify(members)),
  }
}

/** The text of a parameter, as a client of the HTTP API writes it. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (Array.isArray(value)) return value.map(textOf).join(',')
  return typeof value === 'string' ? value : JSON.stringify(value)
}
