/** The part of the description for generators of clients (`/openapi.json?for=sdk`) that the client is made from. */
interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly requestBodies: Readonly<
      Record<string, { readonly required: boolean; readonly content: Content }>
    >
    readonly responses: Readonly<Record<string, { readonly content: Content }>>
  }
}
type Content = Readonly<Record<string, { readonly schema: Schema }>>

interface Described {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly parameters: readonly Parameter[]
  readonly security: readonly Readonly<Record<string, unknown>>[]
  readonly requestBody?: { readonly $ref: string }
  readonly responses: Readonly<Record<string, { readonly $ref: string }>>
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description?: string
  readonly schema: Schema
}

/** The keywords of JSON Schema that decide a type. */
interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly description?: string
}

/** Makes the sources of `@gatewright/client` from a description of a host and from its codes with their statuses, by file name. */
export function clientSources(
  document: object,
  codes: Readonly<Record<string, number>>,
): Readonly<Record<string, string>> {
  const description = document as Description
  return {
    'schemas.ts': schemasFile(description),
    'user.ts': operationsFile(description, 'user'),
    'partner.ts': operationsFile(description, 'partner'),
    'codes.ts': codesFile(codes),
  }
}

/** One name for each operation and surface: `payments_create` is `paymentsCreate` of the user surface. */
function operationsFile(description: Description, surface: 'user' | 'partner'): string {
  const operations = Object.entries(description.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, described]) =>
      surfaceOf(path) === surface ? [operationConstant(description, { path, method, described })] : [],
    ),
  )
  return `import type { ListOperation, Operation } from '../operation.ts'
import type * as Schemas from './schemas.ts'

${operations.join('\n\n')}
`
}

const surfaceOf = (path: string): 'user' | 'partner' => (path.startsWith('/partner/') ? 'partner' : 'user')

interface Place {
  readonly path: string
  readonly method: string
  readonly described: Described
}

function operationConstant(description: Description, { path, method, described }: Place): string {
  const { operationId, summary, description: details, parameters, security } = described
  const name = operationId
    .replace(/^partner_/, '')
    .replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  const { type: data, text, list } = successOf(description, described)
  const paged = list !== undefined && parameters.some(each => each.name === 'cursor') ? list : undefined
  const input = inputOf(description, described)
  const type =
    paged === undefined ? `Operation<${input}, ${data}>` : `ListOperation<${input}, ${data}, '${paged}'>`
  const members = [
    `method: '${method.toUpperCase()}'`,
    `path: '${path}'`,
    `credential: '${credentialOf(security)}'`,
    ...(parameters.some(each => each.name === 'idempotency-key') ? ['keyed: true'] : []),
    ...(text ? ['text: true'] : []),
    ...(paged === undefined ? [] : [`list: '${paged}'`]),
  ]
  return `${comment([summary, details].filter(Boolean).join('. '))}export const ${name}: ${type} = { ${members.join(', ')} }`
}

function credentialOf(security: Described['security']): string {
  const schemes = security.flatMap(each => Object.keys(each))
  if (schemes.length === 0) return 'none'
  const key = schemes.some(name => name.endsWith('Key'))
  const token = schemes.some(name => !name.endsWith('Key'))
  return key && token ? 'key-or-session' : key ? 'key' : 'session'
}

/** The type of `data` in a success, or of a success without an envelope; and the name of the only list in it. */
function successOf(
  description: Description,
  { operationId, responses }: Described,
): { readonly type: string; readonly text: boolean; readonly list: string | undefined } {
  const name = responses['200']?.$ref.split('/').at(-1) ?? ''
  const content = description.components.responses[name]?.content ?? {}
  const schema = content['application/json']?.schema
  if (schema === undefined) return { type: 'string', text: true, list: undefined }
  const data = schema.properties?.['data'] ?? schema
  const lists = Object.entries(resolved(description, data).properties ?? {}).filter(
    ([, each]) => each.type === 'array',
  )
  if (data.$ref === undefined) throw new Error(`the data of ${operationId} needs a name: see component()`)
  return { type: typeOf(data, 'Schemas.'), text: false, list: lists.length === 1 ? lists[0]?.[0] : undefined }
}

function inputOf(description: Description, { parameters, requestBody }: Described): string {
  const [params, query] = (['path', 'query'] as const).map(place =>
    parameters.filter(each => each.in === place),
  ) as [Parameter[], Parameter[]]
  const body = description.components.requestBodies[requestBody?.$ref.split('/').at(-1) ?? '']
  const bodySchema = body?.content['application/json']?.schema
  const members = [
    ...(params.length === 0 ? [] : [`readonly params: ${parametersType(params)}`]),
    ...(query.length === 0
      ? []
      : [`readonly query${query.some(each => each.required) ? '' : '?'}: ${parametersType(query)}`]),
    ...(bodySchema === undefined
      ? []
      : [`readonly body${body?.required ? '' : '?'}: ${typeOf(bodySchema, 'Schemas.')}`]),
  ]
  return members.length === 0 ? 'object' : `{ ${members.join('; ')} }`
}

function parametersType(parameters: readonly Parameter[]): string {
  const members = parameters.map(
    ({ name, required, description, schema }) =>
      `${comment(description)}readonly ${name}${required ? '' : '?'}: ${typeOf(schema, 'Schemas.')}`,
  )
  return `{\n${members.join('\n')}\n}`
}

function schemasFile({ components }: Description): string {
  const declared = Object.entries(components.schemas).map(([name, schema]) => {
    const type = typeOf(schema, '')
    const isInterface = type.startsWith('{') && !isOpen(schema)
    return `${comment(schema.description)}export ${isInterface ? `interface ${name} ${type}` : `type ${name} = ${type}`}`
  })
  return `${declared.join('\n\n')}\n`
}

/** Whether an object may have members that its schema does not name. */
function isOpen({ additionalProperties, patternProperties }: Schema): boolean {
  return (
    additionalProperties === true ||
    typeof additionalProperties === 'object' ||
    patternProperties !== undefined
  )
}

/** The type of a schema. `prefix` stands before the names of components. Throws for a schema that it does not know. */
function typeOf(schema: Schema, prefix: string): string {
  const { $ref, type, items, anyOf } = schema
  if ($ref !== undefined) return prefix + ($ref.split('/').at(-1) as string)
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map(each => JSON.stringify(each)).join(' | ')
  if (anyOf) return [...new Set(anyOf.map(each => typeOf(each, prefix)))].join(' | ')
  if (type === 'array') return `readonly (${typeOf(items ?? {}, prefix)})[]`
  if (type === 'object') return objectType(schema, prefix)
  if (type === 'integer') return 'number'
  if (type === 'string' || type === 'number' || type === 'boolean' || type === 'null') return type
  if (Object.keys(schema).every(name => name === 'description')) return 'unknown'
  throw new Error(`no type for ${JSON.stringify(schema)}`)
}

function objectType(schema: Schema, prefix: string): string {
  const { properties = {}, required = [], additionalProperties, patternProperties = {} } = schema
  const members = Object.entries(properties).map(
    ([name, each]) =>
      `${comment(each.description)}readonly ${property(name)}${required.includes(name) ? '' : '?'}: ${typeOf(each, prefix)}`,
  )
  const others =
    Object.values(patternProperties)[0] ??
    (typeof additionalProperties === 'object' ? additionalProperties : {})
  const rest = `Readonly<Record<string, ${typeOf(others, prefix)}>>`
  if (members.length === 0) return isOpen(schema) ? rest : 'object'
  const named = `{\n${members.join('\n')}\n}`
  return isOpen(schema) ? `${named} & ${rest}` : named
}

const property = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name))

const comment = (text: string | undefined): string =>
  text === undefined || text === '' ? '' : `/** ${text.replaceAll('*/', '* /')} */\n`

function resolved({ components }: Description, schema: Schema): Schema {
  const found =
    schema.$ref === undefined ? schema : components.schemas[schema.$ref.split('/').at(-1) as string]
  if (!found) throw new Error(`the description has no ${schema.$ref}`)
  return found
}

function codesFile(codes: Readonly<Record<string, number>>): string {
  const rows = Object.entries(codes).map(([code, status]) => `${code}: ${status},`)
  return `/** The codes of errors, with their statuses. */\nexport const statuses = {\n${rows.join('\n')}\n} as const\n`
}
