import { allow, type Verdict } from '@gatewright/kernel'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { TObject } from 'typebox/type'
import { deny } from './codes.ts'
import { isName, NAME_FORMAT } from './text.ts'

// `strict` refuses what is no JSON Schema. The meta-schema would cost half of all compiling at a start, for schemas that are
// written in this package.
const ajv = new Ajv({
  ...{ allErrors: false, strict: true, formats: { [NAME_FORMAT]: isName } },
  ...{ meta: false, validateSchema: false },
})

/** Compiles a body check. Denial: `invalid_request` naming the first field that is wrong and what was expected. */
export function bodyCheck(
  schema: TObject,
): (body: Record<string, unknown>) => Verdict<Record<string, unknown>> {
  const validate: ValidateFunction = ajv.compile(schema)
  return body => {
    if (validate(body)) return allow(body)
    const [error] = validate.errors as [ErrorObject]
    const { field, expected } = explain(error)
    return deny('invalid_request', `${field} ${expected}`, { field })
  }
}

/** Which field an ajv error is about, and what was expected of it. */
function explain({ keyword, instancePath, params, message }: ErrorObject): {
  field: string
  expected: string
} {
  const at = instancePath.slice(1).replaceAll('/', '.')
  if (keyword === 'required') {
    const missing = String(params['missingProperty'])
    return { field: at === '' ? missing : `${at}.${missing}`, expected: 'is required' }
  }
  const expected =
    keyword === 'format'
      ? 'must be well-formed Unicode in normal form C (NFC) without control characters'
      : keyword === 'enum'
        ? `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`
        : (message ?? 'is not valid')
  return { field: at === '' ? 'body' : at, expected }
}
