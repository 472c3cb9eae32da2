import type { StandardSchema } from '@gatewright/http/internal'
import type { TObject } from 'typebox/type'
import { compileSchema } from '../../schemas/check.ts'

/** The parts of the schema of a query parameter that decide how its text is read. */
interface ParameterSchema {
  readonly type?: unknown
  readonly default?: unknown
  /** What the parameter must be, in the words of a denial. It is not part of the API description. */
  readonly expected?: string
}

/**
 * The schema with which the gate checks the query of an operation. It returns each parameter in the type that its schema says, or its
 * default if the request does not have it. A list is one text with commas. Denies a parameter that the request has more than once.
 */
export function querySchema(query: TObject): StandardSchema {
  const schemas = query.properties as Readonly<Record<string, ParameterSchema>>
  const validate = compileSchema(query)
  return {
    '~standard': {
      version: 1,
      vendor: 'ajv',
      validate(given) {
        const texts = given as Readonly<Record<string, string | readonly string[]>>
        const value: Record<string, unknown> = {}
        for (const [name, schema] of Object.entries(schemas)) {
          const read = readParameter(texts[name], schema)
          if (read !== undefined) value[name] = read
        }
        const problem = validate(value)
        if (!problem) return { value }
        const [name = ''] = problem.path
        if (Array.isArray(texts[name])) return denied(name, 'must be given once')
        const expected = schemas[name]?.expected
        return expected === undefined ? { issues: [problem] } : denied(name, expected)
      },
    },
  }
}

/** The value of a parameter. A text that cannot have the type of the schema stays a text, which the schema then denies. */
function readParameter(
  given: string | readonly string[] | undefined,
  { type, default: fallback }: ParameterSchema,
): unknown {
  if (given === undefined) return fallback
  // `String` would make one text of several.
  if (typeof given !== 'string') return { repeated: given }
  if (type === 'integer') return /^(?:0|[1-9]\d{0,14})$/.test(given) ? Number(given) : given
  if (type === 'boolean') return given === 'true' ? true : given === 'false' ? false : given
  return type === 'array' ? given.split(',') : given
}

const denied = (name: string, expected: string) => ({
  issues: [{ path: [name], message: `${name} ${expected}` }],
})
