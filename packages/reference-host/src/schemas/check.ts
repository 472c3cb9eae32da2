import { Ajv, type ErrorObject } from 'ajv'
import type { TObject } from 'typebox/type'
import { isName, NAME_FORMAT } from './names.ts'

// `strict` refuses what is no JSON Schema. The meta-schema would cost half of all compiling at a start, for schemas that are
// written in this package.
const ajv = new Ajv({
  ...{ allErrors: false, strict: true, formats: { [NAME_FORMAT]: isName } },
  ...{ meta: false, validateSchema: false },
})

/** The first thing that is wrong with a value. */
interface SchemaFault {
  /** To the member at fault; empty for the value itself. */
  readonly path: readonly string[]
  /** A sentence that starts with the member's name, or with `body`. */
  readonly message: string
}

/** Compiles a schema. What it gives says what is wrong with a value, undefined where nothing is; it changes nothing. */
export function compileSchema(schema: TObject): (value: unknown) => SchemaFault | undefined {
  const validate = ajv.compile(schema)
  return value => {
    if (validate(value)) return undefined
    const [error] = validate.errors as [ErrorObject]
    return explain(error)
  }
}

function explain({ keyword, instancePath, params, message }: ErrorObject): SchemaFault {
  const path = instancePath.split('/').slice(1)
  if (keyword === 'required') path.push(String(params['missingProperty']))
  return { path, message: `${path.join('.') || 'body'} ${expectation(keyword, params, message)}` }
}

function expectation(keyword: string, params: ErrorObject['params'], message: string | undefined): string {
  if (keyword === 'required') return 'is required'
  if (keyword === 'format')
    return 'must be well-formed Unicode in normal form C (NFC) without control characters'
  if (keyword === 'enum') return `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`
  return message ?? 'is not valid'
}
