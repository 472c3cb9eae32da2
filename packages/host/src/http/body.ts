import type { StandardSchema } from '@gatewright/http'
import { compileSchema } from '../schemas/check.ts'
import type { Operation } from './operation.ts'
import { unknownMember } from './unknown-names.ts'

/**
 * The schema with which the gate checks an operation's body. An operation without a body schema still requires a JSON object.
 * Unknown members are checked first: a misspelt one is often a required one, too.
 */
export function bodySchema(operation: Pick<Operation, 'body' | 'unknownMembers'>): StandardSchema {
  const validateBody = operation.body && compileSchema(operation.body)
  return {
    '~standard': {
      version: 1,
      vendor: 'ajv',
      validate(value) {
        const problem = unknownMember(operation, value) ?? validateBody?.(value)
        return problem ? { issues: [problem] } : { value }
      },
    },
  }
}
