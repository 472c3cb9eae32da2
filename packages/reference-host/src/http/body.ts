import type { StandardSchema } from '@gatewright/http'
import type { TObject } from 'typebox/type'
import { compileSchema } from '../schemas/check.ts'

/**
 * The schema with which the gate checks an operation's body. Without `schema`, the body must still be a JSON
 * object.
 */
export function bodySchema(schema: TObject | undefined): StandardSchema {
  const check = schema && compileSchema(schema)
  return {
    '~standard': {
      ...{ version: 1, vendor: 'ajv' },
      validate(value) {
        const problem = check?.(value)
        return problem ? { issues: [problem] } : { value }
      },
    },
  }
}
