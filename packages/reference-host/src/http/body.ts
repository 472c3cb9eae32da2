import type { StandardSchema } from '@gatewright/http'
import type { TObject } from 'typebox/type'
import { compileSchema } from '../schemas/check.ts'

/** An operation's body as a gate checks it; without a schema what is sent must be a JSON object all the same. */
export function bodySchema(schema: TObject | undefined): StandardSchema {
  const check = schema && compileSchema(schema)
  return {
    '~standard': {
      ...{ version: 1, vendor: 'ajv' },
      validate(value) {
        const fault = check?.(value)
        return fault ? { issues: [fault] } : { value }
      },
    },
  }
}
