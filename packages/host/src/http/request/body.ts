import type { StandardSchema } from '@gatewright/http/internal'
import { compileSchema } from '../../schemas/check.ts'
import type { Operation } from '../operations/operation.ts'
import { unknownMember } from './unknown-names.ts'

/**
 * Makes the schema by which the gate checks an operation's body. An operation without a body schema still requires a JSON
 * object. Unknown members are reported before missing ones, because a missing member is often a misspelt one.
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
