import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { resolved } from './openapi.ts'

interface Reference {
  readonly $ref: string
}
interface Schema {
  readonly $ref?: string
  readonly oneOf?: readonly Schema[]
}
interface ResponseDescription {
  readonly content?: Record<string, { schema: Schema }>
}
interface OperationDescription {
  readonly parameters?: readonly object[]
  readonly responses: Readonly<Record<string, ResponseDescription | Reference>>
}
interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationDescription>>>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

/** A response of the host, and whether its request asked for an Open Responses object. */
export interface ObservedResponse {
  readonly status: number
  readonly mediaType: string
  readonly body: unknown
  readonly openResponses: boolean
}

/** Responses that come before any operation: no path, no method, a target that is no path, switched off. */
const UNROUTED = new Set([400, 404, 405, 410])
const DOCUMENT = 'openapi'
const OPEN_RESPONSE = '#/components/schemas/OpenResponse'

/** A description and what was compiled of it. */
class Compiled {
  readonly description: Description
  readonly #routes: readonly { readonly route: string; readonly pattern: RegExp }[]
  // Optimized code would take longer to make than it saves in the few responses of a test.
  readonly #ajv = new Ajv2020({
    strict: false,
    code: { optimize: false },
    inlineRefs: false,
    // The document is checked where it is tested.
    meta: false,
    validateSchema: false,
    formats: { 'date-time': /^\d{4}-\d\d-\d\dT[\d:.]+Z$/ },
  })
  readonly #validators = new Map<string, ValidateFunction>()

  constructor(text: string) {
    this.description = JSON.parse(text) as Description
    // Once, and not in each schema: ajv visits everything that it compiles.
    this.#ajv.addSchema({ $id: DOCUMENT, components: this.description.components })
    this.#routes = Object.keys(this.description.paths).map(route => ({ route, pattern: patternOf(route) }))
  }

  routeOf(path: string): string | undefined {
    const [target = ''] = path.split('?')
    return this.#routes.find(({ pattern }) => pattern.test(target))?.route
  }

  validator(name: string, schema: object): ValidateFunction {
    let validate = this.#validators.get(name)
    if (!validate) {
      const text = JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${DOCUMENT}#/`)
      validate = this.#ajv.compile(JSON.parse(text) as object)
      this.#validators.set(name, validate)
    }
    return validate
  }
}

/** By the text of the description: most hosts of a process publish the same. */
const compiled = new Map<string, Compiled>()
const byConfiguration = new Map<string, Promise<Compiled>>()
async function compiledOf(url: string): Promise<Compiled> {
  const text = await (await fetch(`${url}/openapi.json`)).text()
  const found = compiled.get(text) ?? new Compiled(text)
  compiled.set(text, found)
  return found
}

/** Holds every response of a host against the description that the host itself publishes. */
export class Conformance {
  readonly #compiled: Promise<Compiled>

  /** `configured`: what the host was configured by, if hosts with equal texts publish one description. Making it takes longer than a start. */
  constructor(url: string, configured?: string) {
    this.#compiled = (configured && byConfiguration.get(configured)) || compiledOf(url)
    if (configured) byConfiguration.set(configured, this.#compiled)
  }

  /** Throws when the operation does not document the status or the media type, or the body is not of the documented shape. */
  async check(method: string, path: string, response: ObservedResponse): Promise<void> {
    const { status, mediaType, body } = response
    const compiled = await this.#compiled
    const { description } = compiled
    const route = compiled.routeOf(path)
    const operation = route === undefined ? undefined : description.paths[route]?.[method.toLowerCase()]
    if (!operation) {
      if (UNROUTED.has(status)) return
      throw new Error(`${method} ${path} returned ${status}, but no description has it`)
    }
    const given = operation.responses[status]
    if (!given) throw new Error(`${method} ${route} returned ${status}, which it does not document`)
    const documented = '$ref' in given ? (resolved(description, given.$ref) as ResponseDescription) : given
    if (!documented.content && mediaType === '') return
    const schema = documented.content?.[mediaType]?.schema
    if (!schema) throw new Error(`${method} ${route} describes no ${mediaType} for ${status}`)
    const asked = formOf(schema, response)
    const name = `${method} ${route} ${status} ${asked.form}`
    const validate = compiled.validator(name, asked.schema)
    if (!validate(body)) {
      const [error] = validate.errors ?? []
      throw new Error(`${name}: ${error?.instancePath} ${error?.message}`)
    }
  }
}

/** The alternative that the request asked for. What has none is the same for every request. */
function formOf(schema: Schema, { openResponses }: ObservedResponse): { form: string; schema: Schema } {
  const { oneOf } = schema
  if (!oneOf) return { form: 'plain', schema }
  const found = oneOf.find(({ $ref }) => ($ref === OPEN_RESPONSE) === openResponses)
  if (!found)
    throw new Error(`no alternative for ${openResponses ? 'an Open Responses object' : 'a plain response'}`)
  return { form: openResponses ? 'Open Responses' : 'plain', schema: found }
}

function patternOf(route: string): RegExp {
  return new RegExp(`^${route.replaceAll(/[.]/g, '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}
