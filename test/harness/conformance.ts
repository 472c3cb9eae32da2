import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { resolved } from './openapi.ts'

interface Reference {
  readonly $ref: string
}
interface Schema {
  readonly $ref?: string
  readonly oneOf?: readonly Schema[]
}
interface Documented {
  readonly content?: Record<string, { schema: Schema }>
}
interface Described {
  readonly parameters?: readonly object[]
  readonly responses: Readonly<Record<string, Documented | Reference>>
}
interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

/** An answer of the host, and whether its request asked for an Open Responses object. */
export interface Answered {
  readonly status: number
  readonly mediaType: string
  readonly body: unknown
  readonly openResponses: boolean
}

/** Answers that come before any operation: no path, no method, a target that is no path, switched off. */
const UNROUTED = new Set([400, 404, 405, 410])
const OPEN_RESPONSE = '#/components/schemas/OpenResponse'

/** Holds every answer of a host against the description that the host itself publishes. */
export class Conformance {
  readonly #description: Promise<Description>
  readonly #ajv = new Ajv2020({ strict: false, formats: { 'date-time': /^\d{4}-\d\d-\d\dT[\d:.]+Z$/ } })
  readonly #compiled = new Map<string, ValidateFunction>()

  constructor(url: string) {
    this.#description = fetch(`${url}/openapi.json`).then(answer => answer.json() as Promise<Description>)
  }

  /** Throws when the operation does not document the status or the media type, or the body is not of the documented shape. */
  async check(method: string, path: string, answer: Answered): Promise<void> {
    const { status, mediaType, body } = answer
    const description = await this.#description
    const route = Object.keys(description.paths).find(route => matches(route, path))
    const operation = route === undefined ? undefined : description.paths[route]?.[method.toLowerCase()]
    if (!operation) {
      if (UNROUTED.has(status)) return
      throw new Error(`${method} ${path} answered ${status}, but no description has it`)
    }
    const given = operation.responses[status]
    if (!given) throw new Error(`${method} ${route} answered ${status}, which it does not document`)
    const documented = '$ref' in given ? (resolved(description, given.$ref) as Documented) : given
    if (!documented.content && mediaType === '') return
    const schema = documented.content?.[mediaType]?.schema
    if (!schema) throw new Error(`${method} ${route} describes no ${mediaType} for ${status}`)
    const asked = formOf(schema, answer)
    const name = `${method} ${route} ${status} ${asked.form}`
    const validate = this.#compile(name, asked.schema, description)
    if (!validate(body)) {
      const [error] = validate.errors ?? []
      throw new Error(`${name}: ${error?.instancePath} ${error?.message}`)
    }
  }

  #compile(name: string, schema: object, { components }: Description): ValidateFunction {
    let validate = this.#compiled.get(name)
    if (!validate) {
      validate = this.#ajv.compile({ ...schema, components })
      this.#compiled.set(name, validate)
    }
    return validate
  }
}

/** The alternative that the request asked for. What has none is the same for every request. */
function formOf(schema: Schema, { openResponses }: Answered): { form: string; schema: Schema } {
  const { oneOf } = schema
  if (!oneOf) return { form: 'plain', schema }
  const found = oneOf.find(({ $ref }) => ($ref === OPEN_RESPONSE) === openResponses)
  if (!found)
    throw new Error(`no alternative for ${openResponses ? 'an Open Responses object' : 'a plain answer'}`)
  return { form: openResponses ? 'Open Responses' : 'plain', schema: found }
}

function matches(route: string, path: string): boolean {
  const pattern = route.replaceAll(/[.]/g, '\\.').replaceAll(/\{\w+\}/g, '[^/]+')
  return new RegExp(`^${pattern}$`).test(path.split('?')[0] as string)
}
