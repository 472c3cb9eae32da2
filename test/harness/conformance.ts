import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

interface Described {
  readonly parameters?: readonly { name: string; in: string }[]
  readonly responses: Readonly<Record<string, { content?: Record<string, { schema: object }> }>>
}
interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

/** Answers that come before any operation: no path, no method, a target that is no path, switched off. */
const UNROUTED = new Set([400, 404, 405, 410])

/** Holds every answer of a host against the description that the host itself publishes. */
export class Conformance {
  readonly #description: Promise<Description>
  readonly #ajv = new Ajv2020({ strict: false, formats: { 'date-time': /^\d{4}-\d\d-\d\dT[\d:.]+Z$/ } })
  readonly #compiled = new Map<string, ValidateFunction>()

  constructor(url: string) {
    this.#description = fetch(`${url}/openapi.json`).then(answer => answer.json() as Promise<Description>)
  }

  /** Throws when the operation does not document the status, or the body is not of the documented shape. */
  async check(method: string, path: string, status: number, body: unknown): Promise<void> {
    const description = await this.#description
    const route = Object.keys(description.paths).find(route => matches(route, path))
    const operation = route === undefined ? undefined : description.paths[route]?.[method.toLowerCase()]
    if (!operation) {
      if (UNROUTED.has(status)) return
      throw new Error(`${method} ${path} answered ${status}, but no description has it`)
    }
    const documented = operation.responses[status]
    if (!documented) throw new Error(`${method} ${route} answered ${status}, which it does not document`)
    const schema = documented.content?.['application/json']?.schema
    if (!schema) throw new Error(`${method} ${route} describes no body for ${status}`)
    const validate = this.#compile(`${method} ${route} ${status}`, schema, description)
    if (!validate(body)) {
      const [error] = validate.errors ?? []
      throw new Error(`${method} ${route} ${status}: ${error?.instancePath} ${error?.message}`)
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

function matches(route: string, path: string): boolean {
  const pattern = route.replaceAll(/[.]/g, '\\.').replaceAll(/\{\w+\}/g, '[^/]+')
  return new RegExp(`^${pattern}$`).test(path.split('?')[0] as string)
}
